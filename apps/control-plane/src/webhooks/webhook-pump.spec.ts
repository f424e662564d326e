import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AttemptResult } from './attempt.js';
import type { ClaimedDelivery } from './delivery.store.js';
import { WebhookPump, type PumpOptions } from './webhook-pump.js';

const DELIVERY: ClaimedDelivery = {
  id: '0190a1b2-c3d4-7000-8000-000000000001',
  accountId: '0190a1b2-c3d4-7000-8000-000000000002',
  url: 'https://acme.example/hook',
  body: '{}',
  attemptsMade: 0,
  claimedUntil: new Date(30_000),
  beside: null,
};
const OK: AttemptResult = { kind: 'answered', status: 200, retryAfter: null };

let pump: WebhookPump | undefined;

/** A pump with one delivery due; `changes` are parts of its store. */
function pumpOver(changes: Partial<PumpOptions['store']>) {
  const due = [DELIVERY];
  const outcomes: string[] = [];
  const errors: unknown[] = [];
  pump = new WebhookPump({
    store: {
      dispatchNamed: () => Promise.resolve(0),
      dispatchForgotten: () => Promise.resolve(0),
      claim: () => Promise.resolve({ claimed: due.splice(0), leftOver: [], more: false }),
      postpone: () => Promise.resolve(0),
      record: () => Promise.resolve(true),
      release: () => Promise.resolve(),
      nextDueInMs: () => Promise.resolve(null),
      ...changes,
    },
    poster: { post: () => Promise.resolve(OK), close: () => Promise.resolve() },
    clock: { nowMs: () => 0 },
    secretsOf: () => Promise.resolve(['whsec_']),
    onAttempt: (_delivery, { status }) => outcomes.push(status),
    onError: (error) => errors.push(error),
  });
  return { outcomes, errors };
}

beforeEach(() => vi.useFakeTimers());
afterEach(async () => {
  await pump?.stop();
  vi.useRealTimers();
});

describe('the pump of webhooks', () => {
  it('makes deliveries that are due while events cannot be turned into new ones', async () => {
    const fault = new Error('no partition for this event');
    const { outcomes, errors } = pumpOver({ dispatchForgotten: () => Promise.reject(fault) });
    await vi.advanceTimersByTimeAsync(0);
    expect(outcomes).toEqual(['succeeded']);
    expect(errors).toEqual([fault]);
  });

  it('looks for forgotten events again at the next turn of the relay, not at every ring', async () => {
    const looks = vi.fn<() => Promise<number>>(() => Promise.reject(new Error('still no partition')));
    pumpOver({ dispatchForgotten: looks });
    await vi.advanceTimersByTimeAsync(0);
    for (let rings = 0; rings < 5; rings += 1) {
      pump?.wake();
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(looks).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(looks).toHaveBeenCalledTimes(2);
  });
});
