import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AttemptResult } from './attempt.js';
import type { ClaimedDelivery, Dispatch } from './delivery.store.js';
import { WebhookDispatcher, type WebhookDispatcherOptions } from './webhook.dispatcher.js';

const DELIVERY: ClaimedDelivery = {
  id: '0190a1b2-c3d4-7000-8000-000000000001',
  accountId: '0190a1b2-c3d4-7000-8000-000000000002',
  test: false,
  url: 'https://acme.example/hook',
  body: '{}',
  attemptsMade: 0,
  claimedUntil: new Date(30_000),
  beside: null,
};
const NOTHING: Dispatch = { taken: 0, claimed: [], leftOver: [] };
const OK: AttemptResult = { kind: 'answered', status: 200, retryAfter: null };

let webhookDispatcher: WebhookDispatcher | undefined;

/** A pump with one delivery due; `changes` are parts of its store. */
function dispatcherOver(
  changes: Partial<WebhookDispatcherOptions['store']>,
  post = (): Promise<AttemptResult> => Promise.resolve(OK),
) {
  const due = [DELIVERY];
  const outcomes: string[] = [];
  const errors: unknown[] = [];
  webhookDispatcher = new WebhookDispatcher({
    store: {
      dispatchNamed: () => Promise.resolve(NOTHING),
      dispatchForgotten: () => Promise.resolve(NOTHING),
      claim: () => Promise.resolve({ claimed: due.splice(0), leftOver: [], more: false }),
      dueTo: () => Promise.resolve(0),
      postpone: () => Promise.resolve(0),
      record: () => Promise.resolve(true),
      release: () => Promise.resolve(),
      nextDueInMs: () => Promise.resolve(null),
      ...changes,
    },
    poster: { post, close: () => Promise.resolve() },
    clock: { nowMs: () => 0 },
    secretsOf: () => Promise.resolve(['whsec_']),
    onAttempt: (_delivery, { status }) => outcomes.push(status),
    onError: (error) => errors.push(error),
    hostPerSecond: 1_000,
  });
  return { outcomes, errors };
}

beforeEach(() => vi.useFakeTimers());
afterEach(async () => {
  await webhookDispatcher?.stop();
  vi.useRealTimers();
});

describe('the pump of webhooks', () => {
  it('makes deliveries that are due while events cannot be turned into new ones', async () => {
    const fault = new Error('no partition for this event');
    const { outcomes, errors } = dispatcherOver({ dispatchForgotten: () => Promise.reject(fault) });
    await vi.advanceTimersByTimeAsync(0);
    expect(outcomes).toEqual(['succeeded']);
    expect(errors).toEqual([fault]);
  });

  it('looks for forgotten events again at the next turn of the relay, not at every ring', async () => {
    const looks = vi.fn<() => Promise<Dispatch>>(() => Promise.reject(new Error('still no partition')));
    dispatcherOver({ dispatchForgotten: looks });
    await vi.advanceTimersByTimeAsync(0);
    for (let notifies = 0; notifies < 5; notifies += 1) {
      webhookDispatcher?.wake();
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(looks).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(looks).toHaveBeenCalledTimes(2);
  });

  it('posts what was claimed as it was made, and looks for nothing else then', async () => {
    const looks = vi.fn(() => Promise.resolve({ claimed: [], leftOver: [], more: false }));
    const { outcomes } = dispatcherOver({
      claim: looks,
      dispatchNamed: (ids, roomFor) => {
        expect([ids, roomFor?.('acme.example')]).toEqual([[DELIVERY.id], 5]);
        return Promise.resolve({ taken: 1, claimed: [DELIVERY], leftOver: [] });
      },
    });
    await vi.advanceTimersByTimeAsync(0);
    expect(looks).toHaveBeenCalledTimes(1);
    webhookDispatcher?.wake([DELIVERY.id]);
    await vi.advanceTimersByTimeAsync(0);
    expect(outcomes).toEqual(['succeeded']);
    expect(looks).toHaveBeenCalledTimes(1);
  });

  it('looks again for what had no room, once there is some', async () => {
    const looks = vi.fn(() => Promise.resolve({ claimed: [], leftOver: [], more: false }));
    dispatcherOver({
      claim: looks,
      dispatchNamed: () => Promise.resolve({ taken: 1, claimed: [], leftOver: ['acme.example'] }),
    });
    await vi.advanceTimersByTimeAsync(0);
    webhookDispatcher?.wake([DELIVERY.id]);
    await vi.advanceTimersByTimeAsync(0);
    expect(looks).toHaveBeenCalledTimes(2);
  });

  it('lets the next POST go while the record of the last is under way', async () => {
    const claimed = Array.from({ length: 7 }, (_, at) => ({ ...DELIVERY, id: `${DELIVERY.id.slice(0, -1)}${at}` }));
    const posted = vi.fn(() => Promise.resolve(OK));
    const recorded: ((won: boolean) => void)[] = [];
    const { outcomes } = dispatcherOver(
      {
        claim: () => Promise.resolve({ claimed: claimed.splice(0), leftOver: [], more: false }),
        record: () => new Promise((resolve) => recorded.push(resolve)),
      },
      posted,
    );
    await vi.advanceTimersByTimeAsync(0);
    expect([posted.mock.calls.length, outcomes]).toEqual([7, []]);
    for (const answer of recorded) answer(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(outcomes).toHaveLength(7);
  });
});
