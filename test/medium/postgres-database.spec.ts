import { Database, DatabaseClock, DatabaseUnavailable, DataError, type Executor } from '@countersign/postgres';
import { noStatement, runStatements, statement, together, type Statements } from '@countersign/postgres/statements';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { emptyDatabase, type TestDatabase } from '../support/database.js';
import { type Line, lineTo } from '../support/line.js';

/** 2.9 s is the deadline; the rest is for a test machine that is busy with other things. */
const ANSWERED_MS = 5_000;

let home: TestDatabase;
let database: Database;
let errors: Error[];

const open = (url: string, poolMax = 4): Promise<Database> =>
  Database.open({ url, poolMax, applicationName: 'medium', onError: (error) => errors.push(error) });

beforeAll(async () => {
  home = await emptyDatabase();
  errors = [];
  const first = await open(home.ownerUrl);
  await first.query('CREATE TABLE accounts (id integer PRIMARY KEY, balance integer NOT NULL CHECK (balance >= 0))');
  await first.query('INSERT INTO accounts SELECT n, 100 FROM generate_series(1, 10) AS n');
  await first.close();
});
afterAll(() => home.drop());
beforeEach(async () => {
  errors = [];
  database = await open(home.ownerUrl);
});
afterEach(() => database.close());

const balance = async (id: number): Promise<number | undefined> =>
  (await database.query<{ balance: number }>('SELECT balance FROM accounts WHERE id = $1', [id]))[0]?.balance;

const pid = async (): Promise<number> =>
  (await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]?.pid ?? 0;

describe('a session with the server', () => {
  it('has its time limits, plans for its own parameters and speaks UTC', async () => {
    const rows = await database.query<{ name: string; setting: string }>(
      `SELECT name, setting FROM pg_settings WHERE name = ANY ($1) ORDER BY name`,
      [['statement_timeout', 'idle_in_transaction_session_timeout', 'plan_cache_mode', 'TimeZone']],
    );
    expect(Object.fromEntries(rows.map((row) => [row.name, row.setting]))).toEqual({
      TimeZone: 'UTC',
      idle_in_transaction_session_timeout: '5000',
      plan_cache_mode: 'auto',
      statement_timeout: '2500',
    });
  });

  it("keeps those settings beside the options of the operator's URL", async () => {
    const url = new URL(home.ownerUrl);
    url.searchParams.set('options', '-c work_mem=9MB');
    const other = await open(url.href);
    const rows = await other.query<{ mem: string; mode: string }>(
      `SELECT current_setting('work_mem') AS mem, current_setting('plan_cache_mode') AS mode`,
    );
    await other.close();
    expect(rows).toEqual([{ mem: '9MB', mode: 'auto' }]);
  });

  it('answers DatabaseUnavailable when nobody listens', async () => {
    await expect(open('postgres://nobody:x@127.0.0.1:1/none')).rejects.toThrow(DatabaseUnavailable);
  });
});

describe('a refused statement', () => {
  it('is a DataError with its state and constraint, and keeps the connection', async () => {
    const before = await pid();
    const refusal = database.query('UPDATE accounts SET balance = -1 WHERE id = 1');
    await expect(refusal).rejects.toThrow(DataError);
    await expect(refusal).rejects.toMatchObject({ sqlState: '23514', constraint: 'accounts_balance_check' });
    expect(await pid()).toBe(before);
  });

  it('does not repeat the value it was about', async () => {
    await expect(database.query('SELECT $1::integer', ['+14155550100'])).rejects.toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('4155550100') as string }),
    );
  });
});

describe('a transaction', () => {
  it('commits all of its work', async () => {
    await database.transaction(async (tx) => {
      await tx.query('UPDATE accounts SET balance = balance - 10 WHERE id = 1');
      await tx.query('UPDATE accounts SET balance = balance + 10 WHERE id = 2');
    });
    expect([await balance(1), await balance(2)]).toEqual([90, 110]);
  });

  it('leaves nothing behind when its work throws', async () => {
    const failing = database.transaction(async (tx) => {
      await tx.query('UPDATE accounts SET balance = 0 WHERE id = 3');
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await balance(3)).toBe(100);
  });

  it('does not pretend to have committed when a failed statement was swallowed', async () => {
    const failing = database.transaction(async (tx) => {
      await tx.query('UPDATE accounts SET balance = 0 WHERE id = 3');
      await tx.query('SELECT 1 / 0').catch(() => undefined);
    });
    await expect(failing).rejects.toThrow('nothing was committed');
    expect(await balance(3)).toBe(100);
  });

  it('cannot be used after its end', async () => {
    const leaked = await database.transaction((tx) => Promise.resolve(tx));
    await expect(leaked.query('SELECT 1')).rejects.toThrow('is over');
  });

  it('runs again when it lost a deadlock, and both sides commit', async () => {
    const bothHold = barrier(2);
    let runs = 0;
    const move = (from: number, to: number) => {
      let first = true;
      return database.transaction(async (tx) => {
        runs++;
        await tx.query('UPDATE accounts SET balance = balance - 1 WHERE id = $1', [from]);
        if (first) await bothHold();
        first = false;
        await tx.query('UPDATE accounts SET balance = balance + 1 WHERE id = $1', [to]);
      });
    };
    await Promise.all([move(4, 5), move(5, 4)]);
    expect([await balance(4), await balance(5)]).toEqual([100, 100]);
    // One of the two lost, once at least: two that come back at the same moment may meet again.
    expect(runs).toBeGreaterThan(2);
  });
});

describe('a transaction that reads and then writes', () => {
  const read = (tx: Executor, id: number): Promise<{ balance: number }[]> =>
    tx.query('SELECT balance FROM accounts WHERE id = $1 FOR UPDATE', [id]);
  const take = (id: number, amount: number): Statements<number | undefined> =>
    statement(
      'UPDATE accounts SET balance = balance - $2 WHERE id = $1 RETURNING balance',
      [id, amount],
      ([row]: readonly { readonly balance: number }[]) => row?.balance,
    );
  const pair = <One, Other>(one: Statements<One>, other: Statements<Other>): Statements<readonly [One, Other]> =>
    together(one, other, (first, second) => [first, second] as const);

  it('commits all statements, and returns the value of their rows', async () => {
    const written = await database.readThenWrite(
      (tx) => read(tx, 8),
      (found) => pair(pair(take(8, 30), noStatement(found)), take(9, -30)),
    );
    expect(written).toEqual([[70, [{ balance: 100 }]], 130]);
    expect([await balance(8), await balance(9)]).toEqual([70, 130]);
  });

  it('leaves nothing behind when one of its statements fails, and rejects with the error of that one', async () => {
    const failing = database.readThenWrite(
      (tx) => read(tx, 10),
      () => pair(pair(take(10, 1), take(10, 1_000)), take(10, 1)),
    );
    await expect(failing).rejects.toMatchObject({ name: 'DataError', sqlState: '23514' });
    expect(await balance(10)).toBe(100);
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('leaves nothing behind when the decision fails', async () => {
    const failing = database.readThenWrite(
      async (tx) => {
        await read(tx, 10);
        await runStatements(tx, take(10, 1));
      },
      () => {
        throw new Error('changed my mind');
      },
    );
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await balance(10)).toBe(100);
  });

  it('does not pretend to have committed when a failed read was ignored', async () => {
    const failing = database.readThenWrite(
      (tx) => tx.query('SELECT 1 / 0').catch(() => undefined),
      () => noStatement('committed'),
    );
    await expect(failing).rejects.toThrow('nothing was committed');
  });

  it('runs again when it lost a deadlock', async () => {
    const bothHold = barrier(2);
    const move = (from: number, to: number) => {
      let first = true;
      return database.readThenWrite(
        async (tx) => {
          await read(tx, from);
          if (first) await bothHold();
          first = false;
        },
        () => pair(take(to, -1), take(from, 1)),
      );
    };
    const before = [await balance(4), await balance(5)];
    await Promise.all([move(4, 5), move(5, 4)]);
    expect([await balance(4), await balance(5)]).toEqual(before);
  });
});

describe('a connection that fails', () => {
  it('while idle is reported and replaced', async () => {
    const idle = await pid();
    const other = await open(home.ownerUrl, 1);
    await other.query('SELECT pg_terminate_backend($1)', [idle]);
    await expect.poll(() => errors.length).toBe(1);
    await other.close();
    expect(errors[0]).toBeInstanceOf(DatabaseUnavailable);
    expect(await pid()).not.toBe(idle);
  });

  it('in the middle of a transaction fails that transaction alone', async () => {
    const other = await open(home.ownerUrl, 1);
    const failing = database.transaction(async (tx) => {
      const [row] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await other.query('SELECT pg_terminate_backend($1)', [row?.pid]);
      await tx.query('UPDATE accounts SET balance = 0 WHERE id = 6');
    });
    await expect(failing).rejects.toThrow(DatabaseUnavailable);
    await other.close();
    expect(await balance(6)).toBe(100);
  });
});

describe('a server that is slow', () => {
  it('is given up by its own clock after 2.5 s, and the connection lives on', async () => {
    const before = await pid();
    await expect(database.query('SELECT pg_sleep(10)')).rejects.toThrow(DatabaseUnavailable);
    expect(await pid()).toBe(before);
  });

  it('has 2.9 s for a wait for the pool and a transaction together', async () => {
    const narrow = await open(home.ownerUrl, 1);
    const startMs = performance.now();
    const outcomes = await Promise.allSettled([
      narrow.transaction(async (tx) => {
        for (let statement = 0; statement < 4; statement++) await tx.query('SELECT pg_sleep(2)');
      }),
      narrow.query('SELECT 1'),
    ]);
    const elapsedMs = performance.now() - startMs;
    await narrow.close();
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);
    expect(elapsedMs).toBeLessThan(ANSWERED_MS);
  });
});

describe('a frozen line', () => {
  let line: Line;

  beforeEach(async () => {
    line = await lineTo(home.ownerUrl);
  });
  afterEach(() => line.close());

  it('is answered within 3 s, and the next statement after it thaws works', async () => {
    const far = await open(line.url, 2);
    await far.query('SELECT 1');
    line.freeze();
    const startMs = performance.now();
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => far.query('SELECT 1')));
    expect(performance.now() - startMs).toBeLessThan(ANSWERED_MS);
    expect(outcomes.every((o) => o.status === 'rejected' && o.reason instanceof DatabaseUnavailable)).toBe(true);
    line.thaw();
    expect(await far.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await far.close();
  });
});

describe('connections that lead nowhere any more', () => {
  it('cost one statement, not one each', async () => {
    const line = await lineTo(home.ownerUrl);
    const far = await open(line.url, 4);
    await Promise.all([1, 2, 3, 4].map(() => far.query(SLOW_PID)));
    line.strand();
    await expect(far.query('SELECT 1')).rejects.toThrow(DatabaseUnavailable);
    const startMs = performance.now();
    await Promise.all([1, 2, 3, 4].map(() => far.query('SELECT 1')));
    // One each would be 4 × 2.5 s, or 2.5 s side by side.
    expect(performance.now() - startMs).toBeLessThan(2_300);
    await far.close();
    await line.close();
  });
});

describe('a failover', () => {
  it('drops every connection to the server that only reads', async () => {
    const pids = async (): Promise<number[]> =>
      Promise.all(
        Array.from({ length: 4 }, () => database.query<{ pid: number }>(SLOW_PID).then(([row]) => row?.pid ?? 0)),
      );
    const before = await pids();
    await expect(
      database.transaction(async (tx) => {
        await tx.query('SET TRANSACTION READ ONLY');
        await tx.query('UPDATE accounts SET balance = 0 WHERE id = 7');
      }),
    ).rejects.toThrow(DatabaseUnavailable);
    const after = await pids();
    expect(after.filter((each) => before.includes(each))).toEqual([]);
  });
});

const SLOW_PID = 'SELECT pg_backend_pid() AS pid, pg_sleep(0.1)';

describe("the database's clock", () => {
  it('agrees with the server to a few milliseconds and stamps ids with its time', async () => {
    const clock = await DatabaseClock.start(database, () => undefined);
    const [row] = await database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    expect(Math.abs(clock.nowMs() - (row?.now.getTime() ?? 0))).toBeLessThan(250);
    expect(Math.abs(clock.driftMs)).toBeLessThan(250);
    expect(clock.newId() < clock.newId() || clock.nowMs() > 0).toBe(true);
    await clock.stop();
  });
});

/** Lets everybody go when `count` have come; afterwards nobody waits. */
function barrier(count: number): () => Promise<void> {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return () => {
    if (--count === 0) open();
    return opened;
  };
}
