import { describe, expect, it } from 'vitest';
import { RowCache } from './row-cache.js';

interface Read {
  readonly key: string;
  readonly answer: (value: string | null) => void;
  readonly fail: (error: Error) => void;
}

function cacheOf(options: { maxEntries?: number } = {}): {
  cache: RowCache<string>;
  reads: Read[];
  clock: { nowMs: number };
} {
  const reads: Read[] = [];
  const clock = { nowMs: 0 };
  const load = (key: string): Promise<string | null> =>
    new Promise((answer, fail) => {
      reads.push({ key, answer, fail });
    });
  return { cache: new RowCache({ ...options, load, nowMs: () => clock.nowMs }), reads, clock };
}

/** Resolves after all pending promise reactions. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('RowCache', () => {
  it('reads a key once and serves it for 3 s, counted from before the read', async () => {
    const { cache, reads, clock } = cacheOf();
    const first = cache.get('a');
    clock.nowMs = 1_000;
    reads[0]?.answer('one');
    expect(await first).toBe('one');
    clock.nowMs = 2_999;
    expect(await cache.get('a')).toBe('one');
    expect(reads).toHaveLength(1);
    clock.nowMs = 3_000;
    const second = cache.get('a');
    reads[1]?.answer('two');
    expect(await second).toBe('two');
  });

  it('shares one read among concurrent callers', async () => {
    const { cache, reads } = cacheOf();
    const calls = Array.from({ length: 100 }, () => cache.get('a'));
    reads[0]?.answer('one');
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['one']));
    expect(reads).toHaveLength(1);
  });

  it('does not cache a missing row', async () => {
    const { cache, reads } = cacheOf();
    const first = cache.get('a');
    reads[0]?.answer(null);
    expect(await first).toBeNull();
    const second = cache.get('a');
    reads[1]?.answer('created meanwhile');
    expect(await second).toBe('created meanwhile');
  });

  it('does not return null from a read that began before the call, and still shares the second read', async () => {
    const { cache, reads } = cacheOf();
    const early = cache.get('a');
    const late = Array.from({ length: 50 }, () => cache.get('a'));
    reads[0]?.answer(null);
    expect(await early).toBeNull();
    await settled();
    expect(reads).toHaveLength(2);
    reads[1]?.answer('created meanwhile');
    expect(new Set(await Promise.all(late))).toEqual(new Set(['created meanwhile']));
  });

  it('rejects for every waiting caller and reads again afterwards', async () => {
    const { cache, reads } = cacheOf();
    const calls = [cache.get('a'), cache.get('a')];
    reads[0]?.fail(new Error('away'));
    expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const again = cache.get('a');
    reads[1]?.answer('back');
    expect(await again).toBe('back');
  });

  it('does not store the old value of a forgotten read', async () => {
    const { cache, reads } = cacheOf();
    const old = cache.get('a');
    cache.forget('a');
    const fresh = cache.get('a');
    reads[1]?.answer('new');
    reads[0]?.answer('old');
    expect(await old).toBe('old');
    expect(await fresh).toBe('new');
    expect(await cache.get('a')).toBe('new');
  });

  it('reads again for callers that have an outdated value, once for all of them', async () => {
    const { cache, reads } = cacheOf();
    const first = cache.get('a');
    reads[0]?.answer('old');
    await first;
    const newer = [cache.getNewer('a', 'old'), cache.getNewer('a', 'old')];
    reads[1]?.answer('new');
    expect(await Promise.all(newer)).toEqual(['new', 'new']);
    expect(await cache.getNewer('a', 'old')).toBe('new');
    expect(reads).toHaveLength(2);
  });

  it('holds a bounded number of entries, evicting the one loaded longest ago', async () => {
    const { cache, reads } = cacheOf({ maxEntries: 2 });
    for (const key of ['a', 'b', 'c']) {
      const calls = cache.get(key);
      reads.at(-1)?.answer(key);
      await calls;
    }
    void cache.get('b');
    void cache.get('c');
    expect(reads.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    void cache.get('a');
    expect(reads.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'a']);
  });
});
