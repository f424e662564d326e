/** Installs and builds everything that is missing or out of date: packages, apps and the console. */
export function prepare(options: {
  readonly log: (message: string) => void;
  readonly signal?: AbortSignal;
}): Promise<void>;
/** Builds the console if it is missing or out of date. */
export function prepareConsole(options: {
  readonly log: (message: string) => void;
  readonly signal?: AbortSignal;
}): Promise<void>;
export const ROOT: string;
