import { randomBytes } from 'node:crypto';
import { migrate } from '@countersign/postgres';
import pg from 'pg';
import { inject } from 'vitest';

export interface TestDatabase {
  readonly url: string;
  /** Ends whatever is still connected to it. */
  drop(): Promise<void>;
}

async function asAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('databaseUrl') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A database without tables, on the server of this run. */
export async function emptyDatabase(): Promise<TestDatabase> {
  const name = `countersign_test_${randomBytes(6).toString('hex')}`;
  await asAdmin(`CREATE DATABASE ${name}`);
  const url = new URL(inject('databaseUrl'));
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => asAdmin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** A database of its own for a spec file, migrated; drop it in `afterAll`. Partitions are the test's to make. */
export async function freshDatabase(): Promise<TestDatabase> {
  const database = await emptyDatabase();
  await migrate(database.url);
  return database;
}
