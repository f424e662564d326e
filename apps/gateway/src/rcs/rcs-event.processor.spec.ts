import type { Uuid } from '@countersign/ids';
import { DatabaseUnavailable } from '@countersign/postgres';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Decided } from './card-decisions.js';
import { RcsEventProcessor } from './rcs-event.processor.js';

const NOTHING: Decided = { news: [], eventIds: [], arrivals: [], taps: [] };
const RELAY_MS = 5_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function opened(decide: (ids: readonly Uuid[]) => Promise<Decided> = () => Promise.resolve(NOTHING)) {
  const [decided, left, errors]: [Uuid[][], Uuid[], unknown[]] = [[], [], []];
  const processor = new RcsEventProcessor({
    decisions: {
      decide: async (ids) => {
        const result = await decide(ids);
        decided.push([...ids]);
        return result;
      },
      find: () => Promise.resolve(left.splice(0)),
    },
    maxBatch: 4,
    onDecided: () => undefined,
    onError: (error) => void errors.push(error),
  });
  return { processor, decided, left, errors };
}

const settled = (): Promise<void> => vi.advanceTimersByTimeAsync(0).then(() => undefined);

describe('events that were stored here', () => {
  it('are acted on at once, those of one moment together', async () => {
    const { processor, decided } = opened();
    processor.start();
    await settled();
    processor.wake(['a']);
    processor.wake(['b', 'c']);
    await settled();
    expect(decided.flat().sort()).toEqual(['a', 'b', 'c']);
    await processor.stop();
  });

  it('never share a transaction with more than a batch', async () => {
    const { processor, decided } = opened();
    processor.wake(['a', 'b', 'c', 'd', 'e', 'f']);
    processor.start();
    await settled();
    expect(decided.map((ids) => ids.length)).toEqual([4, 2]);
    await processor.stop();
  });

  it('are not held back by one that cannot be applied', async () => {
    const { processor, decided, errors } = opened((ids) =>
      ids.includes('c') ? Promise.reject(new Error('of c alone')) : Promise.resolve(NOTHING),
    );
    processor.wake(['a', 'b', 'c', 'd']);
    processor.start();
    await settled();
    expect(decided.flat()).toEqual(['a', 'b', 'd']);
    expect(errors).toHaveLength(1);
    await processor.stop();
  });

  it('are left for later, as one, while the database is away', async () => {
    const { processor, errors } = opened(() => Promise.reject(new DatabaseUnavailable('gone')));
    processor.wake(['a', 'b', 'c', 'd']);
    processor.start();
    await settled();
    expect(errors).toHaveLength(1);
    await processor.stop();
  });
});

describe('events that another gateway left', () => {
  it('are found within 5 s', async () => {
    const { processor, decided, left } = opened();
    processor.start();
    await settled();
    left.push('a');
    await vi.advanceTimersByTimeAsync(RELAY_MS);
    expect(decided).toEqual([['a']]);
    await processor.stop();
  });

  it('are not looked for when it has stopped', async () => {
    const { processor, decided, left } = opened();
    processor.start();
    await settled();
    await processor.stop();
    left.push('a');
    processor.wake(['b']);
    await vi.advanceTimersByTimeAsync(2 * RELAY_MS);
    expect(decided).toEqual([]);
  });
});
