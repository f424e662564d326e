import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LeasedWorker } from './leased-worker.js';

const INTERVAL_MS = 1_000;
const MAX_IN_FLIGHT = 3;
/** Jobs per claim at most. */
const MAX_CLAIMED = 2;

describe('a leased worker', () => {
  let due: string[];
  let claims: number;
  let running: Map<string, () => void>;
  let idle: number;
  let errors: unknown[];
  let worker: LeasedWorker<string>;

  beforeEach(() => {
    vi.useFakeTimers();
    [due, errors] = [[], []];
    [claims, idle] = [0, 0];
    running = new Map();
    worker = new LeasedWorker({
      jobs: {
        claim: (free) => {
          claims += 1;
          if (due[0] === 'fault') return Promise.reject(new Error(due.shift()));
          const jobs = due.splice(0, Math.min(free, MAX_CLAIMED));
          return Promise.resolve({ jobs, more: jobs.length === Math.min(free, MAX_CLAIMED) });
        },
        run: (job) => new Promise((resolve) => running.set(job, resolve)),
        onIdle: () => Promise.resolve(void (idle += 1)),
      },
      intervalMs: INTERVAL_MS,
      maxInFlight: MAX_IN_FLIGHT,
      onError: (error) => errors.push(error),
    });
  });
  afterEach(async () => {
    await worker.stopClaiming();
    vi.useRealTimers();
  });

  const settled = async (): Promise<void> => {
    await vi.advanceTimersByTimeAsync(0);
  };
  const end = async (job: string): Promise<void> => {
    running.get(job)?.();
    running.delete(job);
    await settled();
  };
  const jobs = (): string[] => [...running.keys()];

  it('claims at the start, after each interval, and when it is triggered', async () => {
    worker.trigger();
    await settled();
    expect(claims).toBe(0);
    worker.start();
    await settled();
    expect([claims, idle]).toEqual([1, 1]);
    due.push('a');
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    expect([claims, jobs()]).toEqual([2, ['a']]);
    due.push('b');
    worker.trigger();
    await settled();
    expect([claims, jobs()]).toEqual([3, ['a', 'b']]);
  });

  it('claims at once while more may be due, and no more than may be in flight', async () => {
    due.push('a', 'b', 'c', 'd', 'e');
    worker.start();
    await settled();
    expect([jobs(), claims, idle]).toEqual([['a', 'b', 'c'], 2, 0]);
    await end('b');
    expect(jobs()).toEqual(['a', 'c', 'd']);
  });

  it('claims at a given time', async () => {
    worker.start();
    await settled();
    due.push('a');
    worker.triggerIn(400);
    await vi.advanceTimersByTimeAsync(399);
    expect(jobs()).toEqual([]);
    await vi.advanceTimersByTimeAsync(51);
    expect(jobs()).toEqual(['a']);
  });

  it('reports errors of a claim, and claims again after the interval', async () => {
    due.push('fault', 'a');
    worker.start();
    await settled();
    expect([errors, jobs(), idle]).toEqual([[new Error('fault')], [], 0]);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    expect(jobs()).toEqual(['a']);
  });

  it('claims nothing after a stop; draining waits for the jobs in flight', async () => {
    due.push('a', 'b');
    worker.start();
    await settled();
    worker.triggerIn(400);
    await worker.stopClaiming();
    due.push('c');
    worker.trigger();
    await vi.advanceTimersByTimeAsync(2 * INTERVAL_MS);
    const ended: string[] = [];
    const drained = Promise.all([
      worker.drain((job) => job === 'b').then(() => ended.push('b')),
      worker.drain().then(() => ended.push('all')),
    ]);
    await end('b');
    expect(ended).toEqual(['b']);
    await end('a');
    await drained;
    expect([ended, jobs()]).toEqual([['b', 'all'], []]);
  });
});
