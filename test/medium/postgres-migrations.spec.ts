import { Database, migrate, revertMigration } from '@countersign/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyDatabase, type TestDatabase } from '../support/database.js';

const FIRST = 'FirstTables1700000000001';
const TABLES = `
  SELECT relname AS name FROM pg_class
  WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace ORDER BY relname`;

describe('migrating', () => {
  let home: TestDatabase;

  beforeEach(async () => {
    home = await emptyDatabase();
  });
  afterEach(() => home.drop());

  async function inDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const database = await Database.open({
      url: home.url,
      poolMax: 2,
      applicationName: 'medium',
      entities: [],
      onError: () => undefined,
    });
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }

  const tables = async (): Promise<string[]> =>
    inDatabase(async (database) => (await database.query<{ name: string }>(TABLES)).map((row) => row.name));

  it('makes the tables once, and says what it did', async () => {
    expect(await migrate(home.url)).toEqual([FIRST]);
    expect(await migrate(home.url)).toEqual([]);
    expect(await tables()).toEqual(
      expect.arrayContaining(['accounts', 'brands', 'sessions', 'messages', 'events', 'deliveries', 'row_leases']),
    );
  });

  it('is done by exactly one of many processes that boot at once', async () => {
    const done = await Promise.all(Array.from({ length: 8 }, () => migrate(home.url)));
    expect(done.flat()).toEqual([FIRST]);
  });

  it('waits for no one when a process that was migrating has died', async () => {
    await migrate(home.url);
    await inDatabase(async (database) => {
      const dying = database.transaction(async (tx) => {
        await tx.query('LOCK TABLE migration_lock IN ACCESS EXCLUSIVE MODE');
        await tx.query('SELECT pg_terminate_backend(pg_backend_pid())');
      });
      await expect(dying).rejects.toThrow();
    });
    expect(await migrate(home.url)).toEqual([]);
  });

  it('can be undone and done again', async () => {
    await migrate(home.url);
    await revertMigration(home.url);
    expect(await tables()).toEqual(['migration_lock', 'migrations']);
    expect(await migrate(home.url)).toEqual([FIRST]);
  });
});
