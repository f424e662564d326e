import { Batcher, Database, DatabaseUnavailable, DataError } from '@countersign/postgres';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { emptyDatabase, type TestDatabase } from '../support/database.js';

interface Deposit {
  readonly account: number;
  readonly amount: number;
}

const ACCOUNTS = 50;
const LOCK = 'SELECT id FROM accounts WHERE id = ANY ($1) ORDER BY id FOR UPDATE';
const DEPOSIT = `
  WITH given AS (SELECT * FROM unnest($1::int[], $2::int[]) AS given (id, amount))
  UPDATE accounts SET balance = balance + given.amount, deposits = deposits + 1 FROM given
  WHERE accounts.id = given.id RETURNING accounts.id, balance`;

let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await emptyDatabase();
  database = await Database.open({
    url: home.ownerUrl,
    poolMax: 6,
    applicationName: 'medium',
    onError: () => undefined,
  });
  await database.query(
    `CREATE TABLE accounts (id integer PRIMARY KEY, balance integer NOT NULL DEFAULT 0 CHECK (balance >= 0),
       deposits integer NOT NULL DEFAULT 0)`,
  );
});
afterAll(async () => {
  await database.close();
  await home.drop();
});
beforeEach(async () => {
  await database.query('TRUNCATE accounts');
  await database.query('INSERT INTO accounts (id) SELECT generate_series(1, $1::int)', [ACCOUNTS]);
});

/** The shape of every hot path: rows locked in the order of their ids, then one statement. Answers new balances. */
const deposit = (deposits: readonly Deposit[]): Promise<number[]> =>
  database.transaction(async (tx) => {
    const ids = deposits.map((each) => each.account);
    await tx.query(LOCK, [ids]);
    const rows = await tx.query<{ id: number; balance: number }>(DEPOSIT, [ids, deposits.map((each) => each.amount)]);
    const balances = new Map(rows.map((row) => [row.id, row.balance]));
    return ids.map((id) => balances.get(id) ?? Number.NaN);
  });

function depositor(sizes: number[] = []): Batcher<Deposit, number> {
  return new Batcher({
    name: 'deposits',
    run: deposit,
    keysOf: (each) => [`${each.account}`],
    limits: { maxBatch: 64, maxInFlight: 2, maxQueued: 10_000 },
    onBatch: (size) => sizes.push(size),
  });
}

const totals = async (): Promise<{ balance: number; deposits: number } | undefined> =>
  (
    await database.query<{ balance: number; deposits: number }>(
      'SELECT sum(balance)::int AS balance, sum(deposits)::int AS deposits FROM accounts',
    )
  )[0];

describe('batches of real rows', () => {
  it('lose and double nothing, and answer each command with what it did', async () => {
    const sizes: number[] = [];
    const batcher = depositor(sizes);
    const deposits = Array.from({ length: 2_000 }, (_, n) => ({ account: ((n * 7) % ACCOUNTS) + 1, amount: 1 }));
    const balances = await Promise.all(deposits.map((each) => batcher.add(each)));
    expect(await totals()).toEqual({ balance: 2_000, deposits: 2_000 });
    for (let account = 1; account <= ACCOUNTS; account++) {
      const seen = balances.filter((_, n) => deposits[n]?.account === account);
      expect(seen).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
    }
    expect(sizes.length).toBeLessThanOrEqual(400);
  });

  it('fail one command alone', async () => {
    const batcher = depositor();
    const ends = await Promise.allSettled(
      Array.from({ length: ACCOUNTS }, (_, n) => batcher.add({ account: n + 1, amount: n === 20 ? -1 : 5 })),
    );
    const failed = ends.flatMap((end, n) => (end.status === 'rejected' ? [[n, end.reason as unknown]] : []));
    expect(failed).toEqual([[20, expect.any(DataError)]]);
    expect(await totals()).toEqual({ balance: 245, deposits: 49 });
  });

  it('fail the command alone whose row another transaction keeps locked', async () => {
    const batcher = depositor();
    const holder = new pg.Client({ connectionString: home.ownerUrl });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query(LOCK, [[21]]);
    const ends = await Promise.allSettled(
      Array.from({ length: ACCOUNTS }, (_, n) => batcher.add({ account: n + 1, amount: 5 })),
    );
    await holder.end();
    const failed = ends.flatMap((end, n) => (end.status === 'rejected' ? [[n, end.reason as unknown]] : []));
    expect(failed).toEqual([[20, expect.any(DatabaseUnavailable)]]);
    expect(await totals()).toEqual({ balance: 245, deposits: 49 });
    expect(await batcher.add({ account: 21, amount: 5 })).toBe(5);
  });

  it('of two processes meet on the same rows, and all are done', async () => {
    const batchers = [depositor(), depositor()];
    const adds = batchers.flatMap((batcher, which) =>
      Array.from({ length: 500 }, (_, n) =>
        batcher.add({ account: which === 0 ? (n % ACCOUNTS) + 1 : ACCOUNTS - (n % ACCOUNTS), amount: 1 }),
      ),
    );
    await Promise.all(adds);
    expect(await totals()).toEqual({ balance: 1_000, deposits: 1_000 });
  });

  it('are unavailable when their connection is cut, and nothing of them is done by halves', async () => {
    const batcher = new Batcher<Deposit, number>({
      name: 'cut',
      run: (deposits) =>
        database.transaction(async (tx) => {
          await tx.query(DEPOSIT, [deposits.map((each) => each.account), deposits.map((each) => each.amount)]);
          await tx.query('SELECT pg_terminate_backend(pg_backend_pid())');
          return deposits.map(() => 0);
        }),
      keysOf: () => [],
      limits: { maxBatch: 64, maxInFlight: 2, maxQueued: 100 },
    });
    const ends = await Promise.allSettled([1, 2, 3].map((account) => batcher.add({ account, amount: 1 })));
    expect(ends.map((end) => end.status === 'rejected' && end.reason instanceof DatabaseUnavailable)).toEqual([
      true,
      true,
      true,
    ]);
    expect(await totals()).toEqual({ balance: 0, deposits: 0 });
  });
});
