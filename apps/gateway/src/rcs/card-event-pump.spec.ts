import { DatabaseUnavailable, type Uuid } from '@countersign/postgres';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Decided } from './card-decisions.js';
import { CardEventPump } from './card-event-pump.js';

const NOTHING: Decided = { news: [], eventIds: [], arrivals: [], taps: [] };
const RELAY_MS = 5_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function opened(decide: (ids: readonly Uuid[]) => Promise<Decided> = () => Promise.resolve(NOTHING)) {
  const [decided, left, errors]: [Uuid[][], Uuid[], unknown[]] = [[], [], []];
  const pump = new CardEventPump({
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
  return { pump, decided, left, errors };
}

const settled = (): Promise<void> => vi.advanceTimersByTimeAsync(0).then(() => undefined);

describe('events that were stored here', () => {
  it('are acted on at once, those of one moment together', async () => {
    const { pump, decided } = opened();
    pump.start();
    await settled();
    pump.wake(['a']);
    pump.wake(['b', 'c']);
    await settled();
    expect(decided.flat().sort()).toEqual(['a', 'b', 'c']);
    await pump.stop();
  });

  it('never share a transaction with more than a batch', async () => {
    const { pump, decided } = opened();
    pump.wake(['a', 'b', 'c', 'd', 'e', 'f']);
    pump.start();
    await settled();
    expect(decided.map((ids) => ids.length)).toEqual([4, 2]);
    await pump.stop();
  });

  it('are not held back by one that cannot be applied', async () => {
    const { pump, decided, errors } = opened((ids) =>
      ids.includes('c') ? Promise.reject(new Error('of c alone')) : Promise.resolve(NOTHING),
    );
    pump.wake(['a', 'b', 'c', 'd']);
    pump.start();
    await settled();
    expect(decided.flat()).toEqual(['a', 'b', 'd']);
    expect(errors).toHaveLength(1);
    await pump.stop();
  });

  it('are left for later, as one, while the database is away', async () => {
    const { pump, errors } = opened(() => Promise.reject(new DatabaseUnavailable('gone')));
    pump.wake(['a', 'b', 'c', 'd']);
    pump.start();
    await settled();
    expect(errors).toHaveLength(1);
    await pump.stop();
  });
});

describe('events that another gateway left', () => {
  it('are found within 5 s', async () => {
    const { pump, decided, left } = opened();
    pump.start();
    await settled();
    left.push('a');
    await vi.advanceTimersByTimeAsync(RELAY_MS);
    expect(decided).toEqual([['a']]);
    await pump.stop();
  });

  it('are not looked for when it has stopped', async () => {
    const { pump, decided, left } = opened();
    pump.start();
    await settled();
    await pump.stop();
    left.push('a');
    pump.wake(['b']);
    await vi.advanceTimersByTimeAsync(2 * RELAY_MS);
    expect(decided).toEqual([]);
  });
});
