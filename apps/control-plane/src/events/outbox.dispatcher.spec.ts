import { firstIdAt } from '@countersign/ids';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Mutex } from './mutex.js';
import { EventJobNotifier } from '../notifiers/event-job.notifier.js';
import { OutboxDispatcher } from './outbox.dispatcher.js';
import type { Outbox } from './outbox.js';

const EVENT = '0190a1b2-c3d4-7000-8000-000000000001';
const MAX_SET = 250;

const NOW_MS = Date.UTC(2026, 0, 1);

let dispatcher: OutboxDispatcher | undefined;

/** A dispatcher over an empty outbox; `changes` are parts of that. */
function dispatcherOver(changes: Partial<Pick<Outbox, 'dispatchNamed' | 'dispatchUndispatched'>>, mutex = new Mutex()) {
  const errors: unknown[] = [];
  const outbox = {
    dispatchNamed: () => Promise.resolve(0),
    dispatchUndispatched: () => Promise.resolve(0),
    ...changes,
  };
  const failures = { about: () => (error: unknown) => errors.push(error) };
  dispatcher = new OutboxDispatcher(outbox, mutex, new EventJobNotifier(), failures, { nowMs: () => NOW_MS });
  return { errors };
}

beforeEach(() => vi.useFakeTimers());
afterEach(async () => {
  await dispatcher?.stop();
  vi.useRealTimers();
});

describe('the outbox dispatcher', () => {
  it('releases the mutex when events cannot be dispatched', async () => {
    const fault = new Error('no partition for this event');
    const mutex = new Mutex();
    const { errors } = dispatcherOver({ dispatchUndispatched: () => Promise.reject(fault) }, mutex);
    const claim = vi.fn(() => Promise.resolve());
    await mutex.runExclusive(claim);
    expect(claim).toHaveBeenCalledOnce();
    expect(errors).toEqual([fault]);
  });

  it('polls for undispatched events every two seconds, not at every wake-up', async () => {
    const polls = vi.fn(() => Promise.reject(new Error('still no partition')));
    dispatcherOver({ dispatchUndispatched: polls });
    await vi.advanceTimersByTimeAsync(0);
    for (let wakeUps = 0; wakeUps < 5; wakeUps += 1) {
      dispatcher?.wake([EVENT]);
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(polls).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(polls).toHaveBeenCalledTimes(2);
  });

  it('polls although the named events of the run failed', async () => {
    const polls = vi.fn(() => Promise.resolve(0));
    dispatcherOver({ dispatchNamed: () => Promise.reject(new Error('no id')), dispatchUndispatched: polls });
    dispatcher?.wake([EVENT]);
    await vi.advanceTimersByTimeAsync(0);
    expect(polls).toHaveBeenCalledTimes(1);
  });

  it('dispatches named events at once, in sets of bounded size', async () => {
    const sets: number[] = [];
    dispatcherOver({
      dispatchNamed: (ids) => {
        sets.push(ids.length);
        return Promise.resolve(ids.length);
      },
    });
    await vi.advanceTimersByTimeAsync(0);
    dispatcher?.wake(Array.from({ length: 2 * MAX_SET + 1 }, () => EVENT));
    await vi.advanceTimersByTimeAsync(0);
    expect(sets).toEqual([MAX_SET, MAX_SET, 1]);
  });

  it('polls for recent events, and for all of them at first, now and then, and after a failure', async () => {
    const from: string[] = [];
    let fault: Error | null = null;
    dispatcherOver({
      dispatchUndispatched: (fromId) => {
        from.push(fromId === undefined || fromId === firstIdAt(0) ? 'all' : fromId);
        return fault === null ? Promise.resolve(0) : Promise.reject(fault);
      },
    });
    await vi.advanceTimersByTimeAsync(0);
    await vi.advanceTimersByTimeAsync(2_000);
    const recent = firstIdAt(NOW_MS - 120_000);
    expect(from.splice(0)).toEqual(['all', recent]);
    fault = new Error('away');
    await vi.advanceTimersByTimeAsync(4_000);
    fault = null;
    await vi.advanceTimersByTimeAsync(4_000);
    expect(from.splice(0)).toEqual([recent, 'all', 'all', recent]);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(from.filter((each) => each === 'all')).toHaveLength(1);
  });

  it('polls again at once after a full set', async () => {
    const found = [MAX_SET, MAX_SET, 1];
    const polls = vi.fn(() => Promise.resolve(found.shift() ?? 0));
    dispatcherOver({ dispatchUndispatched: polls });
    await vi.advanceTimersByTimeAsync(0);
    expect(polls).toHaveBeenCalledTimes(3);
  });

  it('waits for the claim that is under way, and keeps the next one waiting', async () => {
    const mutex = new Mutex();
    const order: string[] = [];
    let endClaim = (): void => undefined;
    const claim = mutex.runExclusive(
      () =>
        new Promise<void>((resolve) => {
          endClaim = () => {
            order.push('claimed');
            resolve();
          };
        }),
    );
    dispatcherOver(
      {
        dispatchUndispatched: () => {
          order.push('dispatched');
          return Promise.resolve(0);
        },
      },
      mutex,
    );
    const next = mutex.runExclusive(() => {
      order.push('claimed next');
      return Promise.resolve();
    });
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual([]);
    endClaim();
    await Promise.all([claim, next]);
    expect(order).toEqual(['claimed', 'dispatched', 'claimed next']);
  });
});
