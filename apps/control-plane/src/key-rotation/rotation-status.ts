import type { KeyNeed } from '@countersign/key-ring';

/** One listed version of the master key that is not current, with what depends on it. */
export interface VersionStatus {
  readonly version: number;
  readonly needs: readonly KeyNeed[];
}

export interface RotationStatus {
  readonly currentVersion: number;
  readonly versions: readonly VersionStatus[];
}

/** The status as lines of text for the operator. */
export function renderStatus({ currentVersion, versions }: RotationStatus): string {
  const head = `Version ${currentVersion} of COUNTERSIGN_MASTER_KEY is current.`;
  if (versions.length === 0) return `${head}\nNo other version is listed.\n`;
  return `${[head, ...versions.map(renderVersion)].join('\n\n')}\n`;
}

function renderVersion({ version, needs }: VersionStatus): string {
  const width = Math.max(...needs.map(({ name }) => name.length));
  const lines = needs.map((need) => `  ${need.name.padEnd(width)}  ${String(need.rows).padStart(8)}${noteOf(need)}`);
  const title = `Version ${version}: rows that still need it`;
  return [title, ...lines, `  ${verdictOf(version, needs)}`].join('\n');
}

function noteOf({ rows, endsAt, renewal }: KeyNeed): string {
  if (rows === 0) return '';
  return endsAt === null ? `  ${renewal}` : `  ${renewal}, the last one at ${endsAt.toISOString()}`;
}

/** A version may go when nothing is lost with it; the date is when nothing short-lived is left either. */
export function verdictOf(version: number, needs: readonly KeyNeed[]): string {
  const left = needs.filter(({ rows }) => rows > 0);
  if (left.some(({ isNeeded }) => isNeeded)) return `Version ${version} must stay.`;
  const endsMs = left.flatMap(({ endsAt }) => endsAt?.getTime() ?? []);
  if (endsMs.length === 0) return `Version ${version} can be removed.`;
  return `Version ${version} can be removed after ${new Date(Math.max(...endsMs)).toISOString()}; before that, short-lived values of it end early.`;
}
