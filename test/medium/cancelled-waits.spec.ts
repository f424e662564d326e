import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Database, DatabaseUnavailable, type Executor } from '@countersign/postgres';
import { noStatement } from '@countersign/postgres/statements';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPostgres } from '../support/test-postgres.js';
import { until } from '../support/until.js';

const WITHIN_MS = 10_000;
const INSERT = 'INSERT INTO kept SELECT $1::integer';
const WAITING = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> pg_backend_pid()`;

/** The ways to write. */
const WRITES: readonly (readonly [string, (database: Database) => Promise<unknown>])[] = [
  ['a statement of its own', (database) => database.query(INSERT, [1])],
  ['a transaction', (database) => database.transaction((tx: Executor) => tx.query(INSERT, [1]))],
  [
    'a read and a write',
    (database) =>
      database.readThenWrite(
        (tx) => tx.query(INSERT, [1]),
        (rows) => noStatement(rows),
      ),
  ],
];

describe('a commit whose wait for the synchronous standby an operator cancels', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-waits-'));
  let server: Awaited<ReturnType<typeof startTestPostgres>>;
  let operator: pg.Client;
  let database: Database;

  beforeAll(async () => {
    server = await startTestPostgres(folder);
    const { superuserUrl: url } = server;
    operator = new pg.Client({ connectionString: url });
    await operator.connect();
    await operator.query('SET synchronous_commit = local');
    await operator.query('CREATE TABLE kept (n integer)');
    database = await Database.open({ url, poolMax: 1, applicationName: 'test', onError: () => undefined });
  });
  afterAll(async () => {
    await database.close();
    await operator.end();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function requireStandby(name: string): Promise<void> {
    await operator.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await operator.query('SELECT pg_reload_conf()');
    await until('the server has read it', WITHIN_MS, async () => {
      const { rows } = await operator.query<{ name: string }>(
        `SELECT current_setting('synchronous_standby_names') AS name`,
      );
      return rows[0]?.name === name;
    });
  }

  it.each(WRITES)('is not taken for done, in %s; the next one is', async (_how, write) => {
    await requireStandby('away');
    // The checkpointer makes commits wait, a moment after the setting shows.
    let isDone = true;
    let writing: Promise<unknown> = Promise.resolve();
    let pid: number | undefined;
    await until('a commit waits', WITHIN_MS, async () => {
      if (isDone) {
        isDone = false;
        writing = write(database);
        void writing.then(
          () => (isDone = true),
          () => undefined,
        );
      }
      pid = (await operator.query<{ pid: number }>(WAITING)).rows[0]?.pid;
      return pid !== undefined;
    });
    await operator.query('SELECT pg_cancel_backend($1)', [pid]);
    await expect(writing).rejects.toThrow(DatabaseUnavailable);
    await expect(writing).rejects.toThrow('a commit did not wait for the standby');
    await requireStandby('');
    await expect(write(database)).resolves.toBeDefined();
  });
});
