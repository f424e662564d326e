/** Checks the commit out into a worktree and builds its applications. The caller removes the worktree. */
export function buildCommit(options: {
  readonly commit: string;
  /** Does not exist yet. */
  readonly folder: string;
  readonly log: (message: string) => void;
  readonly signal: AbortSignal;
}): Promise<{ /** The short hash. */ readonly name: string; readonly dist: string }>;
/** Whether the repository has the commit: a clone may be shallow, and a source archive has none. */
export function hasCommit(commit: string): boolean;
/** Removes the worktree, also one that was created only in part. Never throws. */
export function removeWorktree(folder: string): void;
