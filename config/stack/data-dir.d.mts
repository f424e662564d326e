interface Accounts {
  readonly uid: number | undefined;
  readonly accountUid: number | undefined;
  readonly program: string;
}

export function openDataDir(
  dataDir: string,
  accounts: Accounts,
): { owner: number | undefined; isEmpty: boolean; recheck: () => void };
export function createDataDir(dataDir: string, accounts: Accounts): void;
export function mayEnd(pid: number, places: readonly string[]): boolean;
