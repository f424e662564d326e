import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { ensureRoles } from '../../config/stack/postgres-roles.mjs';
import { findRedis, startRedis, whyNoRedis } from '../../config/stack/redis.mjs';
import { startTestPostgres } from './test-postgres.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL server, of its superuser; a spec file makes a database there, with both roles (see database.ts). */
    databaseUrl: string;
    /** Null where there is no Redis; what needs one is then skipped. */
    redisUrl: string | null;
  }
}

interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

async function redisServer(dataDir: string): Promise<Server | null> {
  if (findRedis() !== undefined) return startRedis({ dataDir, log: () => undefined });
  console.log(`skipped: every test on Redis (${whyNoRedis() ?? 'none found'}; set REDIS_URL to run them)`);
  return null;
}

/** Starts the servers that the environment does not name, private ones in a folder of their own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-medium-'));
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = process.env;
  const postgres = databaseUrl === undefined ? await startTestPostgres(dataDir) : null;
  const redis = redisUrl === undefined ? await redisServer(dataDir) : null;
  if (databaseUrl !== undefined) await ensureRoles(databaseUrl);
  project.provide('databaseUrl', databaseUrl ?? postgres?.superuserUrl ?? '');
  project.provide('redisUrl', redisUrl ?? redis?.url ?? null);
  return async () => {
    await Promise.all([postgres?.stop(), redis?.stop()]);
    rmSync(dataDir, { recursive: true, force: true });
  };
}
