import { checkKeys, KeyCheckError, recordRotationEnd, Resealer } from '@countersign/key-ring';
import { ServerKeys } from '@countersign/keys';
import { Database } from '@countersign/postgres';
import { checkSchema, SchemaOutdated } from '@countersign/postgres/schema';
import { DaemonSettings, loadSettings, SettingsError } from '@countersign/settings';
import { redactText, terminalText } from '@countersign/telemetry';
import { KEY_DEPENDANTS } from './key-dependants.js';
import { readStatus, renderStatus } from './rotation-status.js';

// Command for operators. `--status` lists the rows that still need an old version of the master key, and writes nothing.
// Without it, keys are checked as at boot, and stored values are resealed at once instead of in the background.

/** Processes with another current version may write values without end. */
const MAX_PASSES = 3;

const report = (line: string): void => void process.stderr.write(`${terminalText(line)}\n`);

async function resealAll(database: Database, keys: ServerKeys): Promise<string> {
  const onError = (error: unknown, column: string): void => report(`${column}: ${redactText(String(error))}`);
  const resealer = new Resealer({ database, keys, columns: KEY_DEPENDANTS.columns, onError });
  let renewed = 0;
  for (let passes = 0; passes < MAX_PASSES;) {
    const step = await resealer.step();
    renewed += step.renewed;
    if (!step.isPassOver) continue;
    passes += 1;
    await recordRotationEnd(database, { keys, dependants: KEY_DEPENDANTS, opened: step.opened });
    // The end of a rotation is a pass in which no value of the old version opens.
    if (step.opened.size === 0) break;
  }
  return `${renewed} values were sealed again with version ${keys.currentVersion}.\n`;
}

async function run(argv: readonly string[]): Promise<string> {
  const unknown = argv.find((argument) => argument !== '--status');
  if (unknown !== undefined)
    throw new KeyCheckError(`unknown argument ${unknown}. Usage: rotate-master-key [--status]`);
  const { databaseUrl, masterKeys } = loadSettings(DaemonSettings);
  const keys = ServerKeys.fromRing(masterKeys);
  const log = (facts: object, message: string): void => report(`${message}: ${JSON.stringify(facts)}`);
  await checkSchema(databaseUrl);
  const isStatus = argv.includes('--status');
  if (!isStatus) {
    await checkKeys({ databaseUrl, keys, entropy: null, dependants: KEY_DEPENDANTS, isComplete: true, log });
  }
  const database = await Database.open({
    url: databaseUrl,
    poolMax: 2,
    applicationName: 'countersign-rotate-master-key',
    onError: () => undefined,
  });
  try {
    return isStatus ? renderStatus(await readStatus(database, keys)) : await resealAll(database, keys);
  } finally {
    await database.close();
  }
}

try {
  process.stdout.write(terminalText(await run(process.argv.slice(2))));
} catch (error) {
  const isForOperator =
    error instanceof SettingsError || error instanceof SchemaOutdated || error instanceof KeyCheckError;
  report(isForOperator ? error.message : redactText(String(error)));
  process.exitCode = 1;
}
