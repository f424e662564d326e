import { Database, prepared, type Executor } from '@countersign/postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { APPEND_EVENTS } from '../../libs/events/src/event-store.sql.js';
import { preparedName } from '../../libs/postgres/src/prepared-statements.js';
import { insertRow } from '../../libs/session/src/session.row.js';
import { INSERT_SESSIONS } from '../../libs/session/src/session.sql.js';
import { emptyDatabase, type TestDatabase } from '../support/database.js';
import { openSessionHarness } from '../support/session-harness.js';

const ADD = prepared(
  'INSERT INTO notes (id, text) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET text = excluded.text',
);
const READ = prepared('SELECT * FROM notes WHERE id = $1');
/** PostgreSQL plans a statement five times before it considers a plan for any parameters. */
const RUNS = 8;

let home: TestDatabase;
let database: Database;

/** Of one connection, so that its statements are seen. */
beforeEach(async () => {
  database = await Database.open({
    url: home.ownerUrl,
    poolMax: 1,
    applicationName: 'medium',
    onError: () => undefined,
  });
});
afterEach(() => database.close());
beforeAll(async () => {
  home = await emptyDatabase();
  const owner = await Database.open({
    ...{ url: home.ownerUrl, poolMax: 1, applicationName: 'medium', onError: () => undefined },
  });
  await owner.query('CREATE TABLE notes (id integer PRIMARY KEY, text text NOT NULL)');
  await owner.query(`INSERT INTO notes VALUES (1, 'one')`);
  await owner.close();
});
afterAll(() => home.drop());

interface Kept {
  readonly name: string;
  readonly generic: number;
}

/** The named statements of the connection. */
const kept = (of: Executor = database): Promise<Kept[]> =>
  of.query<Kept>('SELECT name, generic_plans::int AS generic FROM pg_prepared_statements WHERE name LIKE $1', ['cs_%']);

const nameOf = (text: string): string => preparedName(text) ?? '';

describe('a prepared statement', () => {
  it('is kept by its connection, and planned no more after some runs', async () => {
    for (let id = 1; id <= RUNS; id += 1) await database.query(ADD, [id, 'text']);
    const [only, ...others] = await kept();
    expect([only?.name, others]).toEqual([nameOf(ADD), []]);
    expect(only?.generic).toBeGreaterThan(0);
  });

  it('has a name of its text, and other statements none', async () => {
    expect(nameOf(READ)).not.toBe(nameOf(ADD));
    await database.query('SELECT $1::integer', [1]);
    expect(await kept()).toEqual([]);
  });

  it('runs again after a migration changed its columns, in a transaction too', async () => {
    await database.query(READ, [1]);
    await database.query('ALTER TABLE notes ADD COLUMN added integer NOT NULL DEFAULT 7');
    expect(await database.query(READ, [1])).toEqual([expect.objectContaining({ added: 7 })]);
    await database.query('ALTER TABLE notes DROP COLUMN added');
    const found = await database.transaction(async (tx) => {
      await tx.query(ADD, [2, 'two']);
      return tx.query(READ, [1]);
    });
    expect(found).toEqual([expect.not.objectContaining({ added: 7 })]);
    expect(await database.query(READ, [2])).toEqual([{ id: 2, text: 'two' }]);
    expect((await kept()).map(({ name }) => name)).toContain(nameOf(READ));
  });
});

describe('behind a pooler that keeps no statements', () => {
  it('goes without a name once its server connection does not know it', async () => {
    await database.query(READ, [1]);
    await database.query('DEALLOCATE ALL');
    const found = await database.transaction(async (tx) => {
      await tx.query(ADD, [3, 'three']);
      return tx.query(READ, [3]);
    });
    expect(found).toEqual([{ id: 3, text: 'three' }]);
    expect(await kept()).toEqual([]);
  });

  it('goes without a name once its server connection keeps it for another client', async () => {
    await database.query(`PREPARE ${nameOf(READ)} AS SELECT 1`);
    expect(await database.query(READ, [1])).toEqual([expect.objectContaining({ id: 1 })]);
    expect(await kept()).toEqual([]);
  });

  it('keeps its name when an earlier statement of the transaction fails', async () => {
    const failing = database.transaction(async (tx) => {
      await Promise.all([
        tx.query('SELECT 1 / $1::integer', [0]),
        tx.query(ADD, [4, 'four']),
        tx.query(ADD, [5, 'five']),
      ]);
    });
    await expect(failing).rejects.toMatchObject({ sqlState: '22012' });
    await database.query(ADD, [4, 'four']);
    expect((await kept()).map(({ name }) => name)).toEqual([nameOf(ADD)]);
  });
});

describe('the frequent inserts', () => {
  it('lock one partition each, with plans for any parameters', async () => {
    const harness = await openSessionHarness({ pastDays: 10 });
    const locked = await harness.database.transaction(async (tx) => {
      for (let run = 0; run < RUNS; run += 1) {
        const command = { id: harness.clock.newId(), session: harness.draft() };
        await tx.query(INSERT_SESSIONS, [JSON.stringify([insertRow(harness.keys, command)])]);
        const { accountId } = command.session;
        const event = [
          [command.id],
          ['verification.completed'],
          [accountId],
          [command.id],
          [new Date()],
          ['{}'],
          [null],
        ];
        await tx.query(APPEND_EVENTS, [...event, ['verification.completed'], [false]]);
      }
      const plans = await kept(tx);
      expect(plans.map(({ generic }) => generic > 0)).toEqual([true, true]);
      return tx.query<{ name: string }>(
        `SELECT DISTINCT relname AS name FROM pg_locks JOIN pg_class ON pg_class.oid = pg_locks.relation
         WHERE pid = pg_backend_pid() AND relkind = 'r' AND relispartition ORDER BY 1`,
      );
    });
    await harness.close();
    expect(locked.map(({ name }) => name.split('_')[0])).toEqual(['events', 'sessions']);
  });
});
