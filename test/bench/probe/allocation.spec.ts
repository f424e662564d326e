import v8 from 'node:v8';
import { expect, it } from 'vitest';
import { allocatedBytes, type Collection } from './allocation.js';

const collection = (before: number, after: number): Collection => ({
  beforeGC: { heapStatistics: { usedHeapSize: before } },
  afterGC: { heapStatistics: { usedHeapSize: after } },
});

it('is the growth of the heap while nothing is collected', () => {
  expect(allocatedBytes(100, 250, [])).toBe(150);
});

it('adds what every collection freed', () => {
  // 100 → 300 (200 allocated), freed to 120, → 320 (200), freed to 110, → 150 (40).
  expect(allocatedBytes(100, 150, [collection(300, 120), collection(320, 110)])).toBe(440);
});

it('counts what this process allocates', () => {
  const used = (): number => v8.getHeapStatistics().used_heap_size;
  const profiler = new v8.GCProfiler();
  profiler.start();
  const before = used();
  let kept: number[] = [];
  // An array of n small integers takes 8 octets each with pointers of 64 bits.
  for (let at = 0; at < 2_000; at += 1)
    kept = Array.from<number>({ length: 1 }).concat(new Array<number>(4_000).fill(at));
  const after = used();
  const { statistics } = profiler.stop();
  expect(kept).toHaveLength(4_001);
  const octets = allocatedBytes(before, after, statistics);
  expect(octets).toBeGreaterThan(2_000 * 4_000 * 8);
  expect(statistics.length).toBeGreaterThan(0);
});
