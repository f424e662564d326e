import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LargePartitions } from './large-partitions.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

describe('large partitions', () => {
  it('are looked up once, and are small until then', async () => {
    const find = vi.fn((names: readonly string[]) => Promise.resolve(names.map((name) => ({ name }))));
    const partitions = new LargePartitions(find);
    expect(partitions.has('a')).toBe(false);
    await settle();
    expect([partitions.has('a'), partitions.has('a'), find.mock.calls]).toEqual([true, true, [[['a'], 5_000]]]);
  });

  it('are looked up again after a while where they were small or the look-up failed', async () => {
    const find = vi
      .fn<(names: readonly string[]) => Promise<{ name: string }[]>>()
      .mockRejectedValueOnce(new Error('no connection'))
      .mockResolvedValueOnce([{ name: 'b' }]);
    const partitions = new LargePartitions(find);
    partitions.has('a');
    await settle();
    expect([partitions.has('a'), partitions.has('b'), find.mock.calls.length]).toEqual([false, false, 1]);
    await vi.advanceTimersByTimeAsync(15_000);
    partitions.has('a');
    await settle();
    expect([partitions.has('a'), partitions.has('b')]).toEqual([false, true]);
    expect(find).toHaveBeenLastCalledWith(['a', 'b'], 5_000);
  });

  it('are small for good once they are excluded', async () => {
    const partitions = new LargePartitions((names) => Promise.resolve(names.map((name) => ({ name }))));
    partitions.has('a');
    await settle();
    partitions.exclude('a');
    expect(partitions.has('a')).toBe(false);
    await vi.advanceTimersByTimeAsync(15_000);
    partitions.has('a');
    await settle();
    expect(partitions.has('a')).toBe(false);
  });
});
