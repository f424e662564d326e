import type { Uuid } from '@countersign/ids';
import { DatabaseUnavailable, DataError } from '@countersign/postgres';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Decided } from './card-decisions.js';
import { RcsEventProcessor } from './rcs-event.processor.js';

const NOTHING: Decided = { cardOutcomes: [], eventIds: [], arrivals: [], taps: [] };
const POLL_MS = 5_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function opened(decide: (ids: readonly Uuid[]) => Promise<Decided> = () => Promise.resolve(NOTHING)) {
  const [decided, left, errors]: [Uuid[][], Uuid[], unknown[]] = [[], [], []];
  const refused: Uuid[] = [];
  const processor = new RcsEventProcessor(
    {
      processEvents: async (ids) => {
        const result = await decide(ids);
        decided.push([...ids]);
        return result;
      },
      refuseEvent: (id) => Promise.resolve(void refused.push(id)),
      findUnprocessed: () => Promise.resolve(left.splice(0)),
    },
    { onDecided: () => undefined },
    { batchMaxCommands: 4 },
    { error: (fault: unknown) => void errors.push(fault) },
  );
  return { processor, decided, left, errors, refused };
}

const settled = (): Promise<void> => vi.advanceTimersByTimeAsync(0).then(() => undefined);

describe('events that this gateway stored', () => {
  it('are processed at once, pending ones together', async () => {
    const { processor, decided } = opened();
    processor.start();
    await settled();
    processor.enqueue(['a']);
    processor.enqueue(['b', 'c']);
    await settled();
    expect(decided.flat().sort()).toEqual(['a', 'b', 'c']);
    await processor.stop();
  });

  it('share a transaction with at most a batch', async () => {
    const { processor, decided } = opened();
    processor.enqueue(['a', 'b', 'c', 'd', 'e', 'f']);
    processor.start();
    await settled();
    expect(decided.map((ids) => ids.length)).toEqual([4, 2]);
    await processor.stop();
  });

  it('are not held back by an event that cannot be applied', async () => {
    const { processor, decided, errors } = opened((ids) =>
      ids.includes('c') ? Promise.reject(new Error('of c alone')) : Promise.resolve(NOTHING),
    );
    processor.enqueue(['a', 'b', 'c', 'd']);
    processor.start();
    await settled();
    expect(decided.flat()).toEqual(['a', 'b', 'd']);
    expect(errors).toHaveLength(1);
    await processor.stop();
  });

  it('are marked when they fail alone for their values, and not for another reason', async () => {
    const { processor, decided, errors, refused } = opened((ids) => {
      if (ids.includes('b')) return Promise.reject(new DataError('23514 of b', '23514', null));
      return ids.includes('c') ? Promise.reject(new Error('of c alone')) : Promise.resolve(NOTHING);
    });
    processor.enqueue(['a', 'b', 'c', 'd']);
    processor.start();
    await settled();
    expect(decided.flat()).toEqual(['a', 'd']);
    expect(refused).toEqual(['b']);
    expect(errors).toHaveLength(1);
    await processor.stop();
  });

  it('are left unprocessed, without being split, while the database is unavailable', async () => {
    const { processor, errors } = opened(() => Promise.reject(new DatabaseUnavailable('gone')));
    processor.enqueue(['a', 'b', 'c', 'd']);
    processor.start();
    await settled();
    expect(errors).toHaveLength(1);
    await processor.stop();
  });
});

describe('events that another gateway left unprocessed', () => {
  it('are found within 5 s', async () => {
    const { processor, decided, left } = opened();
    processor.start();
    await settled();
    left.push('a');
    await vi.advanceTimersByTimeAsync(POLL_MS);
    expect(decided).toEqual([['a']]);
    await processor.stop();
  });

  it('are processed behind those that this gateway stored, also when they are split', async () => {
    const { processor, decided, left } = opened((ids) => {
      if (ids.length === 4) processor.enqueue(['new']);
      return ids.includes('b') && ids.length > 1 ? Promise.reject(new Error('of b')) : Promise.resolve(NOTHING);
    });
    left.push('a', 'b', 'c', 'd');
    processor.start();
    await settled();
    expect(decided).toEqual([['new'], ['a'], ['b'], ['c', 'd']]);
    await processor.stop();
  });

  it('are not searched after the stop', async () => {
    const { processor, decided, left } = opened();
    processor.start();
    await settled();
    await processor.stop();
    left.push('a');
    processor.enqueue(['b']);
    await vi.advanceTimersByTimeAsync(2 * POLL_MS);
    expect(decided).toEqual([]);
  });
});
