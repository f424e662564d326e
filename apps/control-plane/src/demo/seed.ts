import { prepareDatabase } from '@countersign/events';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { ensurePartitions } from '@countersign/postgres/partitions';
import { ControlPlaneSettings, loadSettings, MigrationSettings, SettingsError } from '@countersign/settings';
import { redactText, terminalText } from '@countersign/telemetry';
import { DemoSeed, type SeededDemo } from './demo-account.js';
import { parseSeedRequest, type SeedRequest } from './seed-request.js';

// For development runs: migrates and seeds a database. Reads one JSON object from standard input and writes one line of
// JSON to standard output; everything else goes to standard error.

async function readInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}

async function seed(settings: ControlPlaneSettings, request: SeedRequest): Promise<SeededDemo> {
  await prepareDatabase(loadSettings(MigrationSettings));
  const onError = (error: unknown): void => void process.stderr.write(`${terminalText(redactText(String(error)))}\n`);
  const database = await Database.open({
    url: settings.databaseUrl,
    poolMax: 2,
    applicationName: 'countersign-seed',
    onError,
  });
  try {
    const clock = await DatabaseClock.start(database, onError);
    await clock.stop();
    await ensurePartitions(database, clock.nowMs());
    const demo = new DemoSeed({
      keys: ServerKeys.fromRing(settings.masterKeys),
      newId: () => clock.newId(),
      entropyKeyVersion: Math.max(...settings.entropyKeys.keys()),
    });
    return await database.transaction((tx) => demo.run(tx, request));
  } finally {
    await database.close();
  }
}

try {
  const settings = loadSettings(ControlPlaneSettings);
  const demo = await seed(settings, parseSeedRequest(await readInput()));
  process.stdout.write(`${JSON.stringify(demo)}\n`);
} catch (error) {
  const message = error instanceof SettingsError || !(error instanceof Error) ? String(error) : error.message;
  process.stderr.write(`${terminalText(redactText(message))}\n`);
  process.exitCode = 1;
}
