import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort, startPostgres } from '../../config/stack/postgres.mjs';
import { type AppPart, appPart, COMMON_SETTINGS, gatewayPorts } from './parts.js';
import { openSessionHarness, type SessionHarness } from './session-harness.js';

const MASTER_KEY = Buffer.alloc(32, 1);

/** Gateways as separate processes over one PostgreSQL, which is the bus too. */
export interface GatewayProcesses {
  readonly harness: SessionHarness;
  readonly gateways: readonly AppPart[];
  stop(): Promise<void>;
}

/** Starts PostgreSQL; the test starts the gateways. `changes` are variables of their environment. */
export async function gatewayProcesses(
  count: number,
  changes: Readonly<Record<string, string>> = {},
): Promise<GatewayProcesses> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-gateways-'));
  const postgres = await startPostgres({ dataDir, log: () => undefined, port: await freePort() });
  const harness = await openSessionHarness({ testDatabase: postgres });
  const gateways: AppPart[] = [];
  for (let number = 0; number < count; number++) gateways.push(await gatewayPart(postgres.gatewayUrl, changes));
  return {
    harness,
    gateways,
    stop: async () => {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      await harness.close();
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function gatewayPart(databaseUrl: string, changes: Readonly<Record<string, string>>): Promise<AppPart> {
  return appPart('gateway', {
    ...COMMON_SETTINGS,
    ...(await gatewayPorts()),
    DATABASE_URL: databaseUrl,
    COUNTERSIGN_MASTER_KEY: MASTER_KEY.toString('base64'),
    ...changes,
  });
}
