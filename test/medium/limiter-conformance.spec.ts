import { randomBytes } from 'node:crypto';
import { Limiter, LIMITER_TIMEOUT_MS, type LimiterStore, memoryLimiterStore, openLimiterStore } from '@countersign/bus';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { type Line, lineTo } from '../support/line.js';

const redisUrl = inject('redisUrl');
const stores = [
  { name: 'PostgreSQL', skipped: false },
  { name: 'Redis', skipped: redisUrl === null },
];
/** Bound of a wait on a frozen store: the limiter's 300 ms, the rest for a busy machine. Without a bound it lasts for ever. */
const NO_LONGER_MS = 3_000;
const HEAL_MS = 10_000;

describe.each(stores)('the limiter on $name', ({ name, skipped }) => {
  describe.skipIf(skipped)('counts', () => {
    let home: TestDatabase;
    let line: Line;
    let store: LimiterStore;
    let other: LimiterStore;
    let limiter: Limiter;
    let second: Limiter;
    let errors: unknown[];
    let calls: number;
    let key: string;

    const open = (): Promise<LimiterStore> =>
      name === 'Redis'
        ? openLimiterStore({ redisUrl: line.url, databaseUrl: home.url })
        : openLimiterStore({ redisUrl: null, databaseUrl: line.url });

    beforeAll(async () => {
      home = await freshDatabase();
      line = await lineTo(name === 'Redis' ? (redisUrl ?? '') : home.url);
    });
    afterAll(async () => {
      await line.close();
      await home.drop();
    });

    beforeEach(async () => {
      [store, other] = await Promise.all([open(), open()]);
      errors = [];
      calls = 0;
      key = `test:${randomBytes(8).toString('hex')}`;
      const counted: LimiterStore = {
        add: (...asked) => {
          calls++;
          return store.add(...asked);
        },
        close: () => store.close(),
      };
      const onError = (error: unknown): void => void errors.push(error);
      limiter = new Limiter({ store: counted, fallback: memoryLimiterStore(), onError });
      second = new Limiter({ store: other, fallback: memoryLimiterStore(), onError });
      await Promise.all([limiter.probeOnce(), second.probeOnce()]);
      // On a busy machine the first connection may take longer than the limiter waits; the next attempt finds the store.
      await expect.poll(() => limiter.away || second.away, { timeout: HEAL_MS }).toBe(false);
      errors.length = 0;
      calls = 0;
    });
    afterEach(async () => {
      line.thaw();
      await Promise.all([limiter.close(), second.close()]);
    });

    const quota = { limit: 5, windowSeconds: 60 };
    const take = (points = 1) => limiter.consume(key, points, quota);

    it('up to the limit and no further', async () => {
      const standings = [];
      for (let n = 0; n < 7; n++) standings.push(await take());
      expect(standings.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
        [true, 4],
        [true, 3],
        [true, 2],
        [true, 1],
        [true, 0],
        [false, 0],
        [false, 0],
      ]);
      for (const { resetMs, away } of standings) {
        expect(resetMs).toBeGreaterThan(0);
        expect(resetMs).toBeLessThanOrEqual(60_000);
        expect(away).toBe(false);
      }
    });

    it('requests of one turn with one call, and splits its answer exactly', async () => {
      const standings = await Promise.all(Array.from({ length: 8 }, () => take()));
      expect(standings.map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0, 0, 0, 0]);
      expect(standings.filter(({ allowed }) => allowed)).toHaveLength(5);
      expect(calls).toBe(1);
    });

    it('each request of a turn against its own limit', async () => {
      const wide = limiter.consume(key, 1, { limit: 100, windowSeconds: 60 });
      const narrow = limiter.consume(key, 1, { limit: 1, windowSeconds: 60 });
      expect(await Promise.all([wide, narrow])).toMatchObject([
        { allowed: true, remaining: 99 },
        { allowed: false, remaining: 0 },
      ]);
    });

    it('nothing when it is only asked to look', async () => {
      await take();
      expect([await take(0), await take(0)].map(({ remaining }) => remaining)).toEqual([4, 4]);
    });

    it('for all processes together, under concurrency too', async () => {
      const limiters = [limiter, second];
      const standings = await Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          await new Promise((resolve) => setImmediate(resolve));
          return (limiters[n % 2] ?? limiter).consume(key, 1, { limit: 25, windowSeconds: 60 });
        }),
      );
      expect(standings.filter(({ allowed }) => allowed)).toHaveLength(25);
    });

    it('anew when the window is over', async () => {
      const short = { limit: 1, windowSeconds: 1 };
      const once = () => limiter.consume(key, 1, short);
      expect((await once()).allowed).toBe(true);
      expect((await once()).allowed).toBe(false);
      await expect.poll(async () => (await once()).allowed, { timeout: 3_000 }).toBe(true);
    });

    it('by itself while the store is frozen, from its last count; only the first requests wait, and none for long', async () => {
      await take();
      line.freeze();
      const startMs = performance.now();
      const first = await take();
      expect(performance.now() - startMs).toBeLessThan(NO_LONGER_MS);
      expect(first).toMatchObject({ allowed: true, remaining: 3, away: true });
      const againMs = performance.now();
      const standings = await Promise.all(Array.from({ length: 5 }, () => take()));
      for (let again = 0; again < 20; again++) await take();
      // One after the other they would wait 20 times.
      expect(performance.now() - againMs).toBeLessThan(10 * LIMITER_TIMEOUT_MS);
      expect(standings.map(({ remaining, away }) => [remaining, away])).toEqual([2, 1, 0, 0, 0].map((r) => [r, true]));
      expect(standings.at(-1)?.allowed).toBe(false);
      expect(errors).toHaveLength(1);
    });

    it('by itself while the store is down, and with all others again once it is back', async () => {
      await take();
      await line.cut();
      expect((await take()).away).toBe(true);
      await line.mend();
      await expect.poll(async () => (await take(0)).away, { timeout: HEAL_MS }).toBe(false);
      // The points counted meanwhile are in the store too.
      expect((await take(0)).remaining).toBe(3);
      await expect.poll(async () => (await second.consume(key, 0, quota)).remaining, { timeout: HEAL_MS }).toBe(3);
    });

    it('with all others again after a freeze', async () => {
      line.freeze();
      expect((await take()).away).toBe(true);
      line.thaw();
      await expect.poll(async () => (await take(0)).away, { timeout: HEAL_MS }).toBe(false);
      // A call without an answer may have been counted by the store, and is counted again.
      expect([3, 4]).toContain((await take(0)).remaining);
    });

    it('with all others again over a new connection, when the present one is dead', async () => {
      line.strand();
      expect((await take()).away).toBe(true);
      await expect.poll(async () => (await take(0)).away, { timeout: HEAL_MS }).toBe(false);
    });
  });

  describe.skipIf(skipped)('whose store', () => {
    it.each(['down', 'frozen'])('is %s at the start counts by itself, and stops no boot', async (how) => {
      const line = await lineTo(name === 'Redis' ? (redisUrl ?? '') : inject('databaseUrl'));
      if (how === 'down') await line.cut();
      else line.freeze();
      const store = await openLimiterStore({ redisUrl: name === 'Redis' ? line.url : null, databaseUrl: line.url });
      const limiter = new Limiter({ store, fallback: memoryLimiterStore(), onError: () => undefined });
      await limiter.probeOnce();
      expect(limiter.away).toBe(true);
      const standing = await limiter.consume('key', 1, { limit: 1, windowSeconds: 60 });
      expect(standing).toMatchObject({ allowed: true, away: true });
      line.thaw();
      await limiter.close();
      await line.close();
    });
  });
});
