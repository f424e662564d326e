import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Count, Limiter, LIMITER_TIMEOUT_MS, type LimiterStore } from './limiter.js';
import { memoryLimiterStore } from './limiter-store.js';

interface Fixture {
  readonly limiter: Limiter;
  readonly errors: unknown[];
  readonly calls: string[];
}

function limiterOver(add: LimiterStore['add']): Fixture {
  const errors: unknown[] = [];
  const calls: string[] = [];
  const store: LimiterStore = {
    add: (...question) => {
      calls.push(question[0]);
      return add(...question);
    },
    close: () => Promise.resolve(),
  };
  const onError = (error: unknown): void => void errors.push(error);
  return { limiter: new Limiter({ store, fallback: memoryLimiterStore(), onError }), errors, calls };
}

const QUOTA = { limit: 3, windowSeconds: 60 };
const never = (): Promise<Count> => new Promise(() => undefined);

describe('requests of one turn', () => {
  it('get the results that they would have got one after the other', async () => {
    const request = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      points: fc.integer({ min: 0, max: 3 }),
      limit: fc.integer({ min: 1, max: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 30 }), fc.nat(10), async (requests, before) => {
        const [together, alone] = [memoryLimiterStore(), memoryLimiterStore()];
        for (const store of [together, alone]) await store.add('a', before, 60);
        const { limiter } = limiterOver((...question) => together.add(...question));
        const results = await Promise.all(
          requests.map(({ key, points, limit }) => limiter.consume(key, points, { limit, windowSeconds: 60 })),
        );
        for (const [index, { key, points, limit }] of requests.entries()) {
          const { consumed } = await alone.add(key, points, 60);
          const expected = { allowed: consumed <= limit, remaining: Math.max(limit - consumed, 0), away: false };
          expect(results[index]).toMatchObject(expected);
        }
      }),
    );
  });

  it('share one call for each key, and the next turn calls again', async () => {
    const memory = memoryLimiterStore();
    const { limiter, calls } = limiterOver((...question) => memory.add(...question));
    await Promise.all(['a', 'b', 'a', 'a'].map((key) => limiter.consume(key, 1, QUOTA)));
    await limiter.consume('a', 1, QUOTA);
    expect(calls).toEqual(['a', 'b', 'a']);
  });
});

describe('an unavailable store', () => {
  it('is reported once, and called only by probes until it is available again', async () => {
    let broken = true;
    const memory = memoryLimiterStore();
    const { limiter, errors, calls } = limiterOver((...question) =>
      broken ? Promise.reject(new Error('away')) : memory.add(...question),
    );
    const results = [];
    for (let n = 0; n < 5; n++) results.push(await limiter.consume('a', 1, QUOTA));
    expect(results.map(({ allowed, remaining, away }) => [allowed, remaining, away])).toEqual([
      [true, 2, true],
      [true, 1, true],
      [true, 0, true],
      [false, 0, true],
      [false, 0, true],
    ]);
    expect([errors.length, calls.filter((key) => key === 'a').length]).toEqual([1, 1]);
    broken = false;
    await expect.poll(() => limiter.away).toBe(false);
    expect(await limiter.consume('a', 1, QUOTA)).toMatchObject({ allowed: false, remaining: 0, away: false });
    expect(await memory.add('a', 0, 60)).toMatchObject({ consumed: 6 });
    await limiter.close();
  });

  it('that is available for a part of the requests gives a quota once, whenever it fails', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }), async (answers) => {
        const memory = memoryLimiterStore();
        let broken = false;
        const { limiter } = limiterOver((...question) =>
          broken ? Promise.reject(new Error('away')) : memory.add(...question),
        );
        let allowed = 0;
        for (const answer of answers) {
          broken = !answer;
          if (answer) await expect.poll(() => limiter.away, { interval: 5 }).toBe(false);
          if ((await limiter.consume('a', 1, QUOTA)).allowed) allowed++;
        }
        expect(allowed).toBe(Math.min(answers.length, QUOTA.limit));
        await limiter.close();
      }),
      { numRuns: 10 },
    );
  });

  it('that is slow for some of many requests at once gives a quota once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(0, 0, 50, 320, 400), { minLength: 2, maxLength: 8 }),
        async (delays) => {
          const memory = memoryLimiterStore();
          const { limiter } = limiterOver(async (key, ...rest) => {
            const ms = key === 'a' ? (remaining.shift() ?? 0) : 0;
            const isLost = ms === 400;
            const count = isLost ? null : await memory.add(key, ...rest);
            if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
            if (count === null) throw new Error('away');
            return count;
          });
          const remaining = [...delays];
          const quota = { limit: 2 * delays.length, windowSeconds: 60 };
          const turns = Array.from({ length: quota.limit }, async (_, at) => {
            for (let turn = 0; turn < at; turn += 1) await new Promise((resolve) => setImmediate(resolve));
            return limiter.consume('a', 1, quota);
          });
          // A call without an answer may have been counted, and is counted again: some are refused early, none too late.
          await Promise.all(turns);
          expect((await limiter.consume('a', 1, quota)).allowed).toBe(false);
          await expect.poll(() => limiter.away, { interval: 20 }).toBe(false);
          expect((await limiter.consume('a', 1, quota)).allowed).toBe(false);
          await limiter.close();
        },
      ),
      { numRuns: 8 },
    );
  });

  it('counts the points of a late answer once', async () => {
    const memory = memoryLimiterStore();
    let late: (() => void) | undefined;
    const { limiter } = limiterOver(async (...question) => {
      const count = await memory.add(...question);
      if (question[0] === 'a' && late === undefined) await new Promise<void>((resolve) => (late = resolve));
      return count;
    });
    expect(await limiter.consume('a', 1, QUOTA)).toMatchObject({ remaining: 2, away: true });
    late?.();
    await expect.poll(() => limiter.away).toBe(false);
    expect(await limiter.consume('a', 1, QUOTA)).toMatchObject({ remaining: 1, away: false });
    await limiter.close();
  });

  it('leaves its last count to the process, so that a quota is given once', async () => {
    let broken = false;
    const memory = memoryLimiterStore();
    const { limiter } = limiterOver((...question) =>
      broken ? Promise.reject(new Error('away')) : memory.add(...question),
    );
    for (let n = 0; n < 2; n++) await limiter.consume('a', 1, QUOTA);
    broken = true;
    const results = [];
    for (let n = 0; n < 3; n++) results.push(await limiter.consume('a', 1, QUOTA));
    expect(results.map(({ allowed, away }) => [allowed, away])).toEqual([
      [true, true],
      [false, true],
      [false, true],
    ]);
    expect(await limiter.consume('b', 1, QUOTA)).toMatchObject({ remaining: 2, away: true });
    await limiter.close();
  });

  it('leaves no count of a window that is over', async () => {
    let broken = false;
    const { limiter } = limiterOver(() =>
      broken ? Promise.reject(new Error('away')) : Promise.resolve({ consumed: 3, resetMs: 1 }),
    );
    await limiter.consume('a', 1, QUOTA);
    broken = true;
    const overMs = performance.now() + 1;
    await expect.poll(() => performance.now()).toBeGreaterThan(overMs);
    expect(await limiter.consume('a', 1, QUOTA)).toMatchObject({ allowed: true, remaining: 2 });
    await limiter.close();
  });

  it('in the middle of a turn leaves the other keys their answers', async () => {
    const memory = memoryLimiterStore();
    const { limiter } = limiterOver((key, ...rest) =>
      key === 'bad' ? Promise.reject(new Error('away')) : memory.add(key, ...rest),
    );
    const results = await Promise.all(['good', 'bad'].map((key) => limiter.consume(key, 1, QUOTA)));
    expect(results.map(({ away }) => away)).toEqual([false, true]);
    await limiter.close();
  });

  it('that answers too late is ignored', async () => {
    let answer: (count: Count) => void = () => undefined;
    const { limiter, errors } = limiterOver(() => new Promise((resolve) => (answer = resolve)));
    const result = await limiter.consume('a', 1, QUOTA);
    expect(result).toMatchObject({ remaining: 2, away: true });
    answer({ consumed: 3, resetMs: 1 });
    expect(String(errors[0])).toContain(`${LIMITER_TIMEOUT_MS} ms`);
    await limiter.close();
  });

  it('is not assumed when the response only waits to be read by a busy process', async () => {
    const { limiter, errors } = limiterOver(
      () => new Promise((resolve) => setImmediate(() => resolve({ consumed: 1, resetMs: 60_000 }))),
    );
    const result = limiter.consume('a', 1, QUOTA);
    setImmediate(() => {
      const busyUntil = performance.now() + LIMITER_TIMEOUT_MS + 50;
      while (performance.now() < busyUntil);
    });
    expect(await result).toMatchObject({ remaining: 2, away: false });
    expect(errors).toEqual([]);
    await limiter.close();
  });

  it('on close leaves no request pending', async () => {
    const { limiter } = limiterOver(never);
    const pending = limiter.consume('a', 1, QUOTA);
    await limiter.close();
    expect(await pending).toMatchObject({ allowed: true, away: true });
    expect(await limiter.consume('a', 1, QUOTA)).toMatchObject({ remaining: 1, away: true });
  });
});
