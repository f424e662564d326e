import { createHmac } from 'node:crypto';
import { digestsEqual, SealError, type ServerKeys } from '@countersign/keys';
import { Database, type Executor } from '@countersign/postgres';
import { INSERT_CHECK, READ_CHECKS, RETIRE_CHECKS, REVIVE_CHECKS, type RecordedCheck } from './key-check.sql.js';
import { firstNeed } from './key-needs.js';
import { nameOf, type KeyDependants, type SealedColumn, type SealedRow } from './sealed-column.js';
import { sampleValues } from './sealed-column.sql.js';

/** A key of the environment does not fit the database. Its message is for the operator and shows no key. */
export class KeyCheckError extends Error {
  override readonly name = 'KeyCheckError';
}

export interface EntropyCheck {
  /** By version. */
  readonly keys: ReadonlyMap<number, Uint8Array>;
  /** Versions that brands were created with. */
  readonly versionsInUse: (db: Executor) => Promise<readonly number[]>;
}

export interface KeyCheckOptions {
  readonly databaseUrl: string;
  readonly keys: ServerKeys;
  /** Null for a process that has no entropy keys. */
  readonly entropy: EntropyCheck | null;
  readonly dependants: KeyDependants;
  /** Whether `dependants` are all there are: only then is a version found to be of no more use to anyone. */
  readonly isComplete: boolean;
  readonly log: (facts: Readonly<Record<string, unknown>>, message: string) => void;
}

const VARIABLES = { master: 'COUNTERSIGN_MASTER_KEY', entropy: 'COUNTERSIGN_ENTROPY_KEYS' } as const;
type Purpose = keyof typeof VARIABLES;

/** Values of a version that are tried before the version is recorded. */
const SAMPLES = 5;
const FINGERPRINT_CHARACTERS = 8;
const ENTROPY_CHECK_LABEL = 'countersign/entropy-key-check/v1';

/**
 * Compares the keys of this process with those that the database was used with, before anything is read or written with
 * them. A version that is new to the database is recorded; one of the master key only after a stored value opens with it,
 * where there is one. Throws a KeyCheckError for a wrong key, and for a version that is not listed and that rows need.
 * Has a connection of its own, which is closed when this returns.
 */
export async function checkKeys(options: KeyCheckOptions): Promise<void> {
  const database = await Database.open({
    url: options.databaseUrl,
    poolMax: 2,
    applicationName: 'countersign-key-check',
    entities: [],
    onError: () => undefined,
  });
  try {
    await checkMaster(database, options);
    if (options.entropy !== null) await checkEntropy(database, options.entropy, options);
  } finally {
    await database.close();
  }
}

async function checkMaster(database: Database, { keys, dependants, isComplete, log }: KeyCheckOptions): Promise<void> {
  const given = new Map(keys.versions.map((version) => [version, keys.checkValue(version)]));
  const prove = (version: number): Promise<void> => proveVersion(database, keys, version, dependants.columns);
  const recorded = await recordAndCompare(database, { purpose: 'master', given, prove, log });
  await database.query(REVIVE_CHECKS, ['master', keys.versions]);
  const missing = recorded.filter(({ version, isRetired }) => !given.has(version) && !isRetired);
  for (const { version } of missing) {
    const need = await firstNeed(database, dependants, version);
    if (need !== null) throw new KeyCheckError(missingText('master', version, `${need} needs it`));
  }
  if (missing.length === 0 || !isComplete) return;
  const versions = missing.map(({ version }) => version);
  await database.query(RETIRE_CHECKS, ['master', versions]);
  log({ versions }, 'no row needs these versions of the master key any more');
}

async function checkEntropy(database: Database, entropy: EntropyCheck, { log }: KeyCheckOptions): Promise<void> {
  const given = new Map([...entropy.keys].map(([version, key]) => [version, entropyCheckValue(version, key)]));
  const needed = (await entropy.versionsInUse(database)).find((version) => !given.has(version));
  if (needed !== undefined) throw new KeyCheckError(missingText('entropy', needed, 'brands were created with it'));
  await recordAndCompare(database, { purpose: 'entropy', given, prove: () => Promise.resolve(), log });
}

interface Comparison {
  readonly purpose: Purpose;
  /** Check values by version. */
  readonly given: ReadonlyMap<number, Buffer>;
  /** Rejects when a version that is not recorded yet cannot be the right one. */
  readonly prove: (version: number) => Promise<void>;
  readonly log: KeyCheckOptions['log'];
}

/** Every process inserts first and compares afterwards, so that of two that start at once with different keys one fails. */
async function recordAndCompare(
  database: Database,
  { purpose, given, prove, log }: Comparison,
): Promise<readonly RecordedCheck[]> {
  const known = new Set((await readChecks(database, purpose)).map(({ version }) => version));
  for (const [version, value] of given) {
    if (known.has(version)) continue;
    await prove(version);
    const fingerprint = fingerprintOf(value);
    const inserted = await database.query(INSERT_CHECK, [purpose, version, value, fingerprint]);
    const facts = { variable: VARIABLES[purpose], version, fingerprint };
    if (inserted.length === 1) log(facts, 'this version of a key is used with this database for the first time');
  }
  const recorded = await readChecks(database, purpose);
  for (const { version, value, fingerprint } of recorded) {
    const own = given.get(version);
    if (own !== undefined && !digestsEqual(own, value)) {
      throw new KeyCheckError(wrongText(purpose, version, { given: fingerprintOf(own), recorded: fingerprint }));
    }
  }
  return recorded;
}

async function readChecks(database: Database, purpose: Purpose): Promise<readonly RecordedCheck[]> {
  const rows = await database.query<RecordedCheck>(READ_CHECKS);
  return rows.filter((row) => row.purpose === purpose);
}

/** A version under which nothing is stored yet is as good as any; else one of its values has to open. */
async function proveVersion(
  database: Executor,
  keys: ServerKeys,
  version: number,
  columns: readonly SealedColumn[],
): Promise<void> {
  const failed: string[] = [];
  for (const column of columns.filter(({ isSmall }) => isSmall)) {
    const samples = await database.query<SealedRow>(sampleValues(column), [version, SAMPLES]);
    if (samples.some(({ sealed, context }) => opens(keys, column, sealed, context))) return;
    if (samples.length > 0) failed.push(nameOf(column));
  }
  if (failed.length === 0) return;
  const own = { given: fingerprintOf(keys.checkValue(version)), recorded: null };
  throw new KeyCheckError(`${wrongText('master', version, own)} Nothing in ${failed.join(', ')} opens with it.`);
}

function opens(keys: ServerKeys, { label }: SealedColumn, sealed: Buffer, context: string): boolean {
  try {
    keys.open(label, sealed, context);
    return true;
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}

/** Enough to see which key it is, and of no use to find it. */
const fingerprintOf = (checkValue: Buffer): string => checkValue.toString('hex').slice(0, FINGERPRINT_CHARACTERS);

function entropyCheckValue(version: number, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(`${ENTROPY_CHECK_LABEL}\n${version}`).digest();
}

function wrongText(
  purpose: Purpose,
  version: number,
  { given, recorded }: { readonly given: string; readonly recorded: string | null },
): string {
  const known = recorded === null ? '' : `, the recorded one ${recorded}`;
  return (
    `cannot start: version ${version} of ${VARIABLES[purpose]} is not the key that this database was used with ` +
    `(its fingerprint is ${given}${known}). Set the earlier key again, or use the database that belongs to this key.`
  );
}

function missingText(purpose: Purpose, version: number, reason: string): string {
  const status = purpose === 'master' ? ' "rotate-master-key --status" lists what still needs an old version.' : '';
  return (
    `cannot start: ${VARIABLES[purpose]} does not list version ${version}, and ${reason}. ` +
    `Add "${version}:<base64>" with the earlier key again.${status}`
  );
}
