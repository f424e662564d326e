import { createHmac } from 'node:crypto';
import { digestsEqual, type ServerKeys } from '@countersign/keys';
import { Database, type Executor } from '@countersign/postgres';
import {
  INSERT_CHECK,
  MAY_RECORD,
  READ_CHECKS,
  RETIRE_CHECKS,
  REVIVE_CHECKS,
  type RecordedCheck,
} from './key-check.sql.js';
import { firstNeed } from './key-needs.js';
import { byWriter, nameOf, opens, type KeyDependants, type SealedColumn, type SealedRow } from './sealed-column.js';
import { LIST_READABLE, sampleValues } from './sealed-column.sql.js';

/** A key of the environment does not match the database. The message is for the operator and contains no key. */
export class KeyCheckError extends Error {
  override readonly name = 'KeyCheckError';
}

export interface EntropyCheck {
  /** By version. */
  readonly keys: ReadonlyMap<number, Uint8Array>;
  /** Versions of existing brands. */
  readonly versionsInUse: (db: Executor) => Promise<readonly number[]>;
}

export interface KeyCheckOptions {
  readonly databaseUrl: string;
  readonly keys: ServerKeys;
  /** Null for a process without entropy keys. */
  readonly entropy: EntropyCheck | null;
  readonly dependants: KeyDependants;
  /** Whether `dependants` lists all tables. Only then can an unused version be marked as retired. */
  readonly isComplete: boolean;
  readonly log: (facts: Readonly<Record<string, unknown>>, message: string, level: 'info' | 'warn') => void;
}

const VARIABLES = { master: 'COUNTERSIGN_MASTER_KEY', entropy: 'COUNTERSIGN_ENTROPY_KEYS' } as const;
type Purpose = keyof typeof VARIABLES;

/** Number of stored values that are tried before a version is recorded. */
const SAMPLES = 5;
const FINGERPRINT_CHARACTERS = 8;
const ENTROPY_CHECK_LABEL = 'countersign/entropy-key-check/v1';

/**
 * Compares the keys of this process with those that the database was used with, before anything is read or written with
 * them. Throws a KeyCheckError for a wrong key, for a version that is not listed and that rows need, and for a current
 * version of the master key that is new to a database with others. Nothing is written before all keys have passed; then
 * new versions are recorded, one of the master key only after a stored value has opened with it, where there is one.
 * The role of gateways may record none, and retire none: control planes record the versions that gateways list, too.
 * A version that is retired is not needed by rows that the role of gateways may write: these are logged as a warning.
 * Columns that the role of the process may not read are left out: another process, which needs them, checks them.
 * Has a connection of its own, which is closed when this returns.
 */
export async function checkKeys(options: KeyCheckOptions): Promise<void> {
  const { databaseUrl, keys, entropy, isComplete } = options;
  const database = await Database.open({
    url: databaseUrl,
    poolMax: 2,
    applicationName: 'countersign-key-check',
    onError: () => undefined,
  });
  try {
    const rings = [masterRing(keys), ...(entropy === null ? [] : [entropyRing(entropy)])];
    const recorded = await readChecks(database);
    compare(rings, recorded);
    const dependants = await readable(database, options.dependants);
    const unneeded = await checkMasterVersions(database, { ...options, dependants }, ofPurpose(recorded, 'master'));
    if (entropy !== null) await checkEntropyVersions(database, entropy, ofPurpose(recorded, 'entropy'));
    const isAllRead = isComplete && dependants.columns.length === options.dependants.columns.length;
    await record(database, { rings, unneeded: isAllRead ? unneeded : [] }, options);
  } finally {
    await database.close();
  }
}

/**
 * Versions of the master key that the database was used with, for a process that only reads. Throws a KeyCheckError
 * when a listed version has a different key.
 */
export async function recordedMasterVersions(
  db: Executor,
  keys: ServerKeys,
): Promise<readonly Pick<RecordedCheck, 'version' | 'isRetired'>[]> {
  const recorded = await readChecks(db);
  compare([masterRing(keys)], recorded);
  return ofPurpose(recorded, 'master').map(({ version, isRetired }) => ({ version, isRetired }));
}

/** The keys of one variable. */
interface Ring {
  readonly purpose: Purpose;
  /** Check values by version. */
  readonly given: ReadonlyMap<number, Buffer>;
}

const masterRing = (keys: ServerKeys): Ring => ({
  purpose: 'master',
  given: new Map(keys.versions.map((version) => [version, keys.checkValue(version)])),
});

const entropyRing = ({ keys }: EntropyCheck): Ring => ({
  purpose: 'entropy',
  given: new Map([...keys].map(([version, key]) => [version, entropyCheckValue(version, key)])),
});

const readChecks = (db: Executor): Promise<readonly RecordedCheck[]> => db.query<RecordedCheck>(READ_CHECKS);

const ofPurpose = (recorded: readonly RecordedCheck[], wanted: Purpose): readonly RecordedCheck[] =>
  recorded.filter(({ purpose }) => purpose === wanted);

/** Throws a KeyCheckError when a recorded version is listed with a different key. */
function compare(rings: readonly Ring[], recorded: readonly RecordedCheck[]): void {
  for (const { purpose, given } of rings) {
    for (const { version, value, fingerprint } of ofPurpose(recorded, purpose)) {
      const own = given.get(version);
      if (own !== undefined && !digestsEqual(own, value)) {
        throw new KeyCheckError(
          wrongKeyMessage(purpose, version, { given: fingerprintOf(own), recorded: fingerprint }),
        );
      }
    }
  }
}

/**
 * Resolves to the versions that are recorded, not listed, not retired, and that no row needs. A retired version is
 * searched for in small tables only, so that a boot does not read the large ones again. It refuses the start only if it is found
 * in a table that only control planes write: the role of gateways can write any version into the others.
 */
async function checkMasterVersions(
  database: Database,
  { keys, dependants, log }: KeyCheckOptions,
  recorded: readonly RecordedCheck[],
): Promise<readonly number[]> {
  const missing = recorded.filter(({ version }) => !keys.has(version));
  for (const { version, isRetired } of missing) {
    const { controlPlanes, gateways } = byWriter(smallOf(dependants));
    const need = await firstNeed(database, isRetired ? controlPlanes : dependants, version);
    if (need !== null) throw new KeyCheckError(missingVersionMessage('master', version, `${need} needs it`));
    const table = isRetired ? await firstNeed(database, gateways, version) : null;
    if (table !== null) log({ version, table }, 'key check: rows name a retired version of the master key', 'warn');
  }
  const known = new Set(recorded.map(({ version }) => version));
  if (known.size > 0 && !known.has(keys.currentVersion)) {
    const old = keys.versions.find((version) => known.has(version)) ?? Math.max(...known);
    throw new KeyCheckError(newCurrentVersionMessage(keys.currentVersion, old));
  }
  for (const version of keys.versions.filter((each) => !known.has(each))) {
    await proveVersion(database, keys, version, dependants.columns);
  }
  return missing.filter(({ isRetired }) => !isRetired).map(({ version }) => version);
}

async function readable(database: Executor, { columns, rows }: KeyDependants): Promise<KeyDependants> {
  const names = [columns.map(({ table }) => table), columns.map(({ column }) => column)];
  const found = await database.query<{ name: string }>(LIST_READABLE, names);
  const known = new Set(found.map(({ name }) => name));
  return { columns: columns.filter((column) => known.has(nameOf(column))), rows };
}

/** Sessions, the one large table among the needed rows, are left out: they end within minutes. */
const smallOf = ({ columns, rows }: KeyDependants): KeyDependants => ({
  columns: columns.filter(({ isSmall }) => isSmall),
  rows: rows.filter(({ livesSeconds }) => livesSeconds === null),
});

async function checkEntropyVersions(
  database: Database,
  { keys, versionsInUse }: EntropyCheck,
  recorded: readonly RecordedCheck[],
): Promise<void> {
  const needed = (await versionsInUse(database)).find((version) => !keys.has(version));
  if (needed !== undefined)
    throw new KeyCheckError(missingVersionMessage('entropy', needed, 'brands were created with it'));
  const known = new Set(recorded.map(({ version }) => version));
  for (const [version, key] of keys) {
    if (known.has(version)) continue;
    const same =
      recorded.find((each) => digestsEqual(entropyCheckValue(each.version, key), each.value))?.version ??
      [...keys].find(([other, otherKey]) => other !== version && digestsEqual(key, otherKey))?.[0];
    if (same !== undefined) throw new KeyCheckError(repeatedKeyMessage(same, version));
  }
}

interface Changes {
  readonly rings: readonly Ring[];
  /** Unlisted versions of the master key that no row needs. */
  readonly unneeded: readonly number[];
}

/**
 * Records the results of the check, in one transaction. Inserts first and compares afterwards, so that of two
 * processes that start concurrently with different keys one fails.
 */
async function record(
  database: Database,
  { rings, unneeded }: Changes,
  { keys, log }: Pick<KeyCheckOptions, 'keys' | 'log'>,
): Promise<void> {
  const inserted = await database.transaction(async (tx) => {
    const facts: Readonly<Record<string, unknown>>[] = [];
    const [right] = await tx.query<{ mayRecord: boolean }>(MAY_RECORD);
    const mayRecord = right?.mayRecord === true;
    if (mayRecord) for (const ring of rings) facts.push(...(await insertNew(tx, ring)));
    compare(rings, await readChecks(tx));
    if (mayRecord) await tx.query(REVIVE_CHECKS, ['master', keys.versions]);
    if (mayRecord && unneeded.length > 0) await tx.query(RETIRE_CHECKS, ['master', unneeded]);
    return facts;
  });
  for (const facts of inserted)
    log(facts, 'key check: this version of a key is used with this database for the first time', 'info');
  if (unneeded.length > 0)
    log({ versions: unneeded }, 'key check: no row needs these versions of the master key any more', 'info');
}

/** Resolves to the facts to log for each new version. Inserts in a fixed order, to avoid deadlocks. */
async function insertNew(tx: Executor, { purpose, given }: Ring): Promise<Readonly<Record<string, unknown>>[]> {
  const known = new Set(ofPurpose(await readChecks(tx), purpose).map(({ version }) => version));
  const facts = [];
  for (const [version, value] of [...given].sort(([one], [other]) => one - other)) {
    if (known.has(version)) continue;
    const fingerprint = fingerprintOf(value);
    const inserted = await tx.query(INSERT_CHECK, [purpose, version, value, fingerprint]);
    if (inserted.length === 1) facts.push({ variable: VARIABLES[purpose], version, fingerprint });
  }
  return facts;
}

/** A version without stored values passes; otherwise one of its values must open. */
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
  throw new KeyCheckError(`${wrongKeyMessage('master', version, own)} Nothing in ${failed.join(', ')} opens with it.`);
}

/** Identifies a key without revealing it. */
const fingerprintOf = (checkValue: Buffer): string => checkValue.toString('hex').slice(0, FINGERPRINT_CHARACTERS);

function entropyCheckValue(version: number, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(`${ENTROPY_CHECK_LABEL}\n${version}`).digest();
}

function wrongKeyMessage(
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

function missingVersionMessage(purpose: Purpose, version: number, reason: string): string {
  const status = purpose === 'master' ? ' "rotate-master-key --status" lists what still needs an old version.' : '';
  return (
    `cannot start: ${VARIABLES[purpose]} does not list version ${version}, and ${reason}. ` +
    `Add "${version}:<base64>" with the earlier key again.${status}`
  );
}

function newCurrentVersionMessage(current: number, old: number): string {
  return (
    `cannot start: ${VARIABLES.master} lists version ${current} first, and no process has used it with this database ` +
    `yet. Running processes that do not list it could not read what this one writes. List it behind the old one first, ` +
    `"${old}:<old>,${current}:<new>", on all processes, and put it first after that.`
  );
}

function repeatedKeyMessage(known: number, version: number): string {
  return (
    `cannot start: ${VARIABLES.entropy} has the same key for the versions ${known} and ${version}. ` +
    `Keep it under version ${known} alone, and make a new key for version ${version}.`
  );
}
