import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Batcher, BatcherFull, type BatcherOptions, type BatchLimits } from './batcher.js';
import { DatabaseUnavailable, DataError, TransactionConflict } from './database-errors.js';

interface Command {
  readonly n: number;
  readonly keys: readonly string[];
}

type Outcome = number[] | Error;

/** A database whose runs the test completes. */
class FakeRuns {
  readonly started: number[][] = [];
  readonly #open: ((outcome: Outcome) => void)[] = [];

  readonly run = (commands: readonly Command[]): Promise<readonly number[]> => {
    this.started.push(commands.map((command) => command.n));
    return new Promise((resolve, reject) => {
      this.#open.push((outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
    });
  };

  get open(): number {
    return this.#open.length;
  }

  /** Completes the oldest run: each command with ten times itself by default. */
  async finish(outcome?: (commands: number[]) => Outcome): Promise<void> {
    const commands = this.started[this.started.length - this.#open.length] ?? [];
    const answer = this.#open.shift();
    answer?.(outcome === undefined ? commands.map((n) => n * 10) : outcome(commands));
    await turn();
  }
}

/** The end of this event loop turn, and its microtasks. */
const turn = async (): Promise<void> => {
  for (let count = 0; count < 3; count++) await new Promise((resolve) => setImmediate(resolve));
};

const command = (n: number, ...keys: string[]): Command => ({ n, keys });
const refusal = (): DataError => new DataError('23505 taken', '23505', 'one');

function batcherOver(
  run: BatcherOptions<Command, number>['run'],
  limits: Partial<BatchLimits> = {},
): Batcher<Command, number> {
  return new Batcher({
    name: 'test',
    run,
    keysOf: (c) => c.keys,
    limits: { maxBatch: 3, maxInFlight: 2, maxQueued: 100, ...limits },
  });
}

/** Adds commands whose rejections are checked later. */
function added(batcher: Batcher<Command, number>, ...commands: Command[]): Promise<number>[] {
  const answers = commands.map((each) => batcher.add(each));
  for (const answer of answers) answer.catch(() => undefined);
  return answers;
}

/** The result of each promise: its value, or the name of its error. */
const ends = async (promises: Promise<number>[]): Promise<(number | string)[]> =>
  (await Promise.allSettled(promises)).map((end) =>
    end.status === 'fulfilled' ? end.value : end.reason instanceof Error ? end.reason.name : 'no error',
  );

describe('concurrent commands', () => {
  it('share a batch, up to its limit', async () => {
    const runs = new FakeRuns();
    const batcher = batcherOver(runs.run);
    const answers = [1, 2, 3, 4].map((n) => batcher.add(command(n)));
    expect(runs.started).toEqual([]);
    await turn();
    expect(runs.started).toEqual([[1, 2, 3], [4]]);
    await runs.finish();
    await runs.finish();
    expect(await ends(answers)).toEqual([10, 20, 30, 40]);
  });

  it('wait for a free slot when enough batches are in flight, and then start without a delay', async () => {
    const runs = new FakeRuns();
    const batcher = batcherOver(runs.run);
    const answers = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => batcher.add(command(n)));
    await turn();
    expect([runs.started, batcher.queued, batcher.inFlight]).toEqual([
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      2,
      2,
    ]);
    await runs.finish();
    expect(runs.started[2]).toEqual([7, 8]);
    await runs.finish();
    await runs.finish();
    expect(await ends(answers)).toEqual([10, 20, 30, 40, 50, 60, 70, 80]);
    expect([batcher.queued, batcher.inFlight]).toEqual([0, 0]);
  });

  it('are rejected when the queue is full', async () => {
    const runs = new FakeRuns();
    const batcher = batcherOver(runs.run, { maxQueued: 2 });
    const answers = [1, 2, 3].map((n) => batcher.add(command(n)));
    await expect(answers[2]).rejects.toThrow(BatcherFull);
    await turn();
    const later = batcher.add(command(4));
    await turn();
    await runs.finish();
    await runs.finish();
    expect(await ends([...answers.slice(0, 2), later])).toEqual([10, 20, 40]);
  });
});

describe('commands with one key', () => {
  it('never share a batch and run in order, while others run before them', async () => {
    const runs = new FakeRuns();
    const batcher = batcherOver(runs.run);
    const answers = [command(1, 'a'), command(2, 'a'), command(3, 'b'), command(4, 'a')].map((c) => batcher.add(c));
    await turn();
    expect(runs.started).toEqual([[1, 3]]);
    await runs.finish();
    expect(runs.started).toEqual([[1, 3], [2]]);
    await runs.finish();
    expect(runs.started).toEqual([[1, 3], [2], [4]]);
    await runs.finish();
    expect(await ends(answers)).toEqual([10, 20, 30, 40]);
  });

  it('wait while an earlier one is in flight, even if a slot is free', async () => {
    const runs = new FakeRuns();
    const batcher = batcherOver(runs.run);
    const first = added(batcher, command(1, 'a'));
    await turn();
    const others = added(batcher, command(2, 'a', 'b'), command(3, 'b'));
    await turn();
    expect(runs.started).toEqual([[1]]);
    await runs.finish();
    expect(runs.started).toEqual([[1], [2]]);
    await runs.finish(() => refusal());
    expect(runs.started).toEqual([[1], [2], [3]]);
    await runs.finish();
    expect(await ends([...first, ...others])).toEqual([10, 'DataError', 30]);
  });

  it('may name a key twice', async () => {
    const runs = new FakeRuns();
    const batcher = batcherOver(runs.run);
    const answer = batcher.add(command(1, 'a', 'a'));
    await turn();
    await runs.finish();
    expect(await ends([answer])).toEqual([10]);
  });
});

describe('a failing batch', () => {
  it('is halved on a data error until one command fails alone', async () => {
    const seen: number[][] = [];
    const batcher = batcherOver(
      (commands) => {
        seen.push(commands.map((each) => each.n));
        const bad = commands.some((each) => each.n === 3);
        return bad ? Promise.reject(refusal()) : Promise.resolve(commands.map((each) => each.n * 10));
      },
      { maxBatch: 8 },
    );
    expect(await ends([1, 2, 3, 4, 5].map((n) => batcher.add(command(n))))).toEqual([10, 20, 'DataError', 40, 50]);
    expect(seen).toEqual([[1, 2, 3, 4, 5], [1, 2], [3, 4, 5], [3], [4, 5]]);
    await batcher.drain();
    expect(batcher.inFlight).toBe(0);
  });

  it('runs again after a lost deadlock', async () => {
    const runs = new FakeRuns();
    const batcher = batcherOver(runs.run);
    const answers = [1, 2].map((n) => batcher.add(command(n)));
    await turn();
    await runs.finish(() => new TransactionConflict('40P01'));
    await runs.finish();
    expect(runs.started).toEqual([
      [1, 2],
      [1, 2],
    ]);
    expect(await ends(answers)).toEqual([10, 20]);
  });

  it('rejects with DatabaseUnavailable after five lost attempts', async () => {
    let count = 0;
    const batcher = batcherOver(() => {
      count++;
      return Promise.reject(new TransactionConflict('40P01'));
    });
    expect(await ends([1, 2].map((n) => batcher.add(command(n))))).toEqual([
      'DatabaseUnavailable',
      'DatabaseUnavailable',
    ]);
    expect(count).toBe(5);
  });

  it('fails as a whole, and once, when the database is unavailable', async () => {
    let count = 0;
    const batcher = batcherOver(() => {
      count++;
      return Promise.reject(new DatabaseUnavailable('away'));
    });
    expect(await ends([1, 2, 3].map((n) => batcher.add(command(n))))).toEqual(Array(3).fill('DatabaseUnavailable'));
    expect(count).toBe(1);
  });

  it('is not run again when its results do not match its commands', async () => {
    const runs = new FakeRuns();
    const batcher = batcherOver(runs.run);
    const answers = added(batcher, command(1), command(2));
    await turn();
    await runs.finish(() => [1]);
    expect(await ends(answers)).toEqual(['ResultCountMismatch', 'ResultCountMismatch']);
    expect(runs.started).toEqual([[1, 2]]);
  });

  it('may throw before it has begun', async () => {
    const batcher = batcherOver(() => {
      throw refusal();
    });
    expect(await ends([1, 2].map((n) => batcher.add(command(n))))).toEqual(['DataError', 'DataError']);
  });
});

describe('a deadline', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('rejects queued and running commands, and queued ones are not run afterwards', async () => {
    const runs = new FakeRuns();
    const batcher = batcherOver(runs.run, { deadlineMs: 1_000, maxInFlight: 1, maxBatch: 1 });
    const ended: string[] = [];
    const watch = (n: number): void => {
      batcher.add(command(n, `${n}`)).then(
        (value) => ended.push(`${value}`),
        (error: unknown) => ended.push(error instanceof DatabaseUnavailable ? `late ${n}` : 'other'),
      );
    };
    watch(1);
    watch(2);
    await turn();
    await vi.advanceTimersByTimeAsync(600);
    watch(3);
    await vi.advanceTimersByTimeAsync(399);
    expect(ended).toEqual([]);
    await vi.advanceTimersByTimeAsync(2);
    expect(ended).toEqual(['late 1', 'late 2']);
    await runs.finish();
    expect(runs.started).toEqual([[1], [3]]);
    await runs.finish();
    expect(ended).toEqual(['late 1', 'late 2', '30']);
    await batcher.drain();
  });

  it('keeps the order of a key: the next command waits until the late one has ended', async () => {
    const runs = new FakeRuns();
    const batcher = batcherOver(runs.run, { deadlineMs: 1_000 });
    const first = batcher.add(command(1, 'a'));
    first.catch(() => undefined);
    await turn();
    await vi.advanceTimersByTimeAsync(1_001);
    await expect(first).rejects.toThrow(DatabaseUnavailable);
    const second = batcher.add(command(2, 'a'));
    await turn();
    expect(runs.started).toEqual([[1]]);
    await runs.finish();
    expect(runs.started).toEqual([[1], [2]]);
    await runs.finish();
    expect(await second).toBe(20);
  });
});

describe('draining', () => {
  it('waits for every command that was added', async () => {
    const runs = new FakeRuns();
    const batcher = batcherOver(runs.run, { maxInFlight: 1 });
    let drained = false;
    for (let n = 0; n < 4; n++) void batcher.add(command(n));
    void batcher.drain().then(() => (drained = true));
    await turn();
    await runs.finish();
    expect(drained).toBe(false);
    await runs.finish();
    await turn();
    expect(drained).toBe(true);
    await batcher.drain();
  });
});

describe('for any commands and any failures', () => {
  const KEYS = ['a', 'b', 'c', 'd'];

  const scenario = fc.record({
    commands: fc.array(
      fc.record({
        keys: fc.array(fc.constantFrom(...KEYS), { maxLength: 3 }),
        bad: fc.boolean(),
        pauses: fc.boolean(),
      }),
      { maxLength: 60 },
    ),
    maxBatch: fc.integer({ min: 1, max: 7 }),
    maxInFlight: fc.integer({ min: 1, max: 3 }),
    troubles: fc.array(fc.constantFrom('none', 'conflict', 'away'), { maxLength: 20 }),
  });

  it('each is answered once, keys keep their order and exclude each other, and no limit is exceeded', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ commands, maxBatch, maxInFlight, troubles }) => {
        const trouble = [...troubles];
        const finished: number[] = [];
        const inUse = new Map<string, number>();
        let inFlight = 0;
        const run = async (batch: readonly Command[]): Promise<number[]> => {
          inFlight++;
          expect(inFlight).toBeLessThanOrEqual(maxInFlight);
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(maxBatch);
          const held = batch.flatMap((each) => [...new Set(each.keys)]);
          for (const key of held) {
            expect(inUse.has(key)).toBe(false);
            inUse.set(key, 1);
          }
          const ahead = trouble.shift();
          await new Promise((resolve) => setImmediate(resolve));
          for (const key of held) inUse.delete(key);
          inFlight--;
          if (ahead === 'conflict') throw new TransactionConflict('40P01');
          if (ahead === 'away') throw new DatabaseUnavailable('away');
          if (batch.some((each) => commands[each.n]?.bad)) throw refusal();
          finished.push(...batch.map((each) => each.n));
          return batch.map((each) => each.n);
        };
        const batcher = batcherOver(run, { maxBatch, maxInFlight });
        let answers = 0;
        const ended: number[] = [];
        for (const [n, { keys, bad, pauses }] of commands.entries()) {
          if (pauses) await new Promise((resolve) => setImmediate(resolve));
          void batcher.add({ n, keys }).then(
            (value) => {
              answers++;
              ended.push(n);
              expect([value, bad]).toEqual([n, false]);
            },
            (error: unknown) => {
              answers++;
              ended.push(n);
              expect(error instanceof DatabaseUnavailable || bad).toBe(true);
            },
          );
        }
        await batcher.drain();
        await turn();
        expect(answers).toBe(commands.length);
        expect(new Set(finished).size).toBe(finished.length);
        for (const key of KEYS) {
          const ofKey = ended.filter((n) => commands[n]?.keys.includes(key));
          expect(ofKey).toEqual([...ofKey].sort((one, other) => one - other));
        }
        expect([batcher.queued, batcher.inFlight, inFlight]).toEqual([0, 0, 0]);
      }),
      { numRuns: 200 },
    );
  });

  it('a long queue of commands with one key has a constant cost per command', async () => {
    const batcher = batcherOver((batch) => Promise.resolve(batch.map((each) => each.n)), {
      maxQueued: 50_000,
      maxBatch: 64,
      deadlineMs: 60_000,
    });
    const startMs = performance.now();
    for (let n = 0; n < 20_000; n++) void batcher.add(command(n, n % 10 === 0 ? 'hot' : `${n}`));
    await batcher.drain();
    expect(performance.now() - startMs).toBeLessThan(5_000);
  });
});
