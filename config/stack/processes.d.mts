export function identify(pid: number): { pid: number; mark: string };
export function stillRuns(found: { pid: number; mark: string }): boolean;
export function alive(pid: number): boolean;
export function parentOf(pid: number): number;
export function commandLine(pid: number): string;
