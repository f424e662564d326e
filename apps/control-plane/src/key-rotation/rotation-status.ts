import { listNeeds, recordedMasterVersions, type KeyNeed } from '@countersign/key-ring';
import type { ServerKeys } from '@countersign/keys';
import type { Database } from '@countersign/postgres';
import { KEY_DEPENDANTS } from './key-dependants.js';

/** One version of the master key that is not current, with the rows that depend on it. */
export interface VersionStatus {
  readonly version: number;
  /** Whether this process lists the version; an unlisted version is recorded in the database. */
  readonly isListed: boolean;
  /** Whether a control plane has recorded that nothing needs it. */
  readonly isRetired: boolean;
  readonly needs: readonly KeyNeed[];
}

export interface RotationStatus {
  readonly currentVersion: number;
  readonly versions: readonly VersionStatus[];
}

/**
 * Counts the rows that depend on each listed or recorded version except the current one: a process that still runs with an
 * older ring may write rows of a version that is not listed here. Writes nothing. Throws a KeyCheckError for a wrong key.
 */
export async function readStatus(database: Database, keys: ServerKeys): Promise<RotationStatus> {
  const { currentVersion } = keys;
  const recorded = await recordedMasterVersions(database, keys);
  const retired = new Set(recorded.flatMap(({ version, isRetired }) => (isRetired ? [version] : [])));
  const all = new Set([...keys.versions, ...recorded.map(({ version }) => version)]);
  const versions: VersionStatus[] = [];
  for (const version of [...all].filter((each) => each !== currentVersion)) {
    const needs = await listNeeds(database, KEY_DEPENDANTS, version, keys);
    versions.push({ version, isListed: keys.has(version), isRetired: retired.has(version), needs });
  }
  return { currentVersion, versions };
}

/** The status as lines of text for the operator. */
export function renderStatus({ currentVersion, versions }: RotationStatus): string {
  const head = `Version ${currentVersion} of COUNTERSIGN_MASTER_KEY is current.`;
  if (versions.length === 0) return `${head}\nNo other version is listed or recorded.\n`;
  return `${[head, ...versions.map(renderVersion)].join('\n\n')}\n`;
}

function renderVersion({ version, isListed, isRetired, needs }: VersionStatus): string {
  const width = Math.max(...needs.map(({ name }) => name.length));
  const lines = needs.map((need) => `  ${need.name.padEnd(width)}  ${String(need.rows).padStart(8)}${noteOf(need)}`);
  const title = `Version ${version}${isListed ? '' : ' (not listed)'}: rows that still need it`;
  const counted = isRetired ? needs.filter(({ gatewaysWrite }) => isListed || !gatewaysWrite) : needs;
  const verdict = isListed ? verdictOf(version, needs) : unlistedVerdictOf(version, counted);
  const unopened = needs.some((need) => need.unopened > 0);
  const more = unopened && isListed && !isRetired ? [`  ${unrecorded(version)}`] : [];
  return [title, ...lines, `  ${verdict}`, ...more].join('\n');
}

/** A start without the version cannot tell such values from genuine ones. */
const unrecorded = (version: number): string =>
  `Some values name version ${version} and do not open with it. Before you remove it, run this command without --status, or ` +
  'wait for the control planes, until this line is gone: they record that these values need no key.';

function noteOf(need: KeyNeed): string {
  return `${renewalOf(need)}${need.unopened === 0 ? '' : `  and ${need.unopened} that do not open with it`}`;
}

function renewalOf({ rows, endsAt, renewal }: KeyNeed): string {
  if (rows === 0) return '';
  return endsAt === null ? `  ${renewal}` : `  ${renewal}, the last one at ${endsAt.toISOString()}`;
}

/** A version can be removed when no row needs it. The date in the text is the end of the last short-lived value. */
export function verdictOf(version: number, needs: readonly KeyNeed[]): string {
  const left = needs.filter(({ rows }) => rows > 0);
  if (left.some(({ isNeeded }) => isNeeded)) return `Version ${version} must stay.`;
  const endsMs = left.flatMap(({ endsAt }) => endsAt?.getTime() ?? []);
  if (endsMs.length === 0) return `Version ${version} can be removed.`;
  return `Version ${version} can be removed after ${new Date(Math.max(...endsMs)).toISOString()}; before that, short-lived values of it end early.`;
}

function unlistedVerdictOf(version: number, needs: readonly KeyNeed[]): string {
  const isNeeded = needs.some(({ rows, isNeeded: isLost }) => rows > 0 && isLost);
  if (!isNeeded) return `Version ${version} need not be listed.`;
  return `Version ${version} must be listed again: these rows cannot be used without it.`;
}
