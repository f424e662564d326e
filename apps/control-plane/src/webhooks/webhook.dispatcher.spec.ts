import type { Executor } from '@countersign/postgres';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AttemptResult } from './attempt.js';
import { AttemptRecorder } from './attempt.recorder.js';
import { Mutex } from '../events/mutex.js';
import { EventJobNotifier } from '../notifiers/event-job.notifier.js';
import { OutboxDispatcher } from '../events/outbox.dispatcher.js';
import type { ClaimedDelivery, DeliveryStore, NewDeliveries } from './delivery.store.js';
import { DeliverySubscriber } from './delivery.subscriber.js';
import { WebhookAttempts } from './webhook-attempts.js';
import { WebhookDispatcher } from './webhook.dispatcher.js';

type DispatchedStore = Pick<
  DeliveryStore,
  'claimDueDeliveries' | 'countDueTo' | 'postponeDeliveries' | 'recordAttempt' | 'releaseDeliveries' | 'nextDueInMs'
>;

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
const OK: AttemptResult = { kind: 'answered', status: 200, retryAfter: null };

let webhookDispatcher: WebhookDispatcher | undefined;

/** A dispatcher with one delivery due; `changes` are parts of its store. */
function dispatcherOver(
  changes: Partial<DispatchedStore>,
  post = (): Promise<AttemptResult> => Promise.resolve(OK),
  mutex = new Mutex(),
) {
  const due = [DELIVERY];
  const outcomes: string[] = [];
  const errors: unknown[] = [];
  const failures = { about: () => (error: unknown) => void errors.push(error) };
  const store: DispatchedStore = {
    claimDueDeliveries: () => Promise.resolve({ claimed: due.splice(0), leftOver: [], more: false }),
    countDueTo: () => Promise.resolve(0),
    postponeDeliveries: () => Promise.resolve(0),
    recordAttempt: () => Promise.resolve(true),
    releaseDeliveries: () => Promise.resolve(),
    nextDueInMs: () => Promise.resolve(null),
    ...changes,
  };
  const attempts = new WebhookAttempts(
    { post, close: () => Promise.resolve() },
    { nowMs: () => 0 },
    { webhookSecrets: () => Promise.resolve(['whsec_']) },
    new AttemptRecorder(store, { onAttempt: (_delivery, { status }) => void outcomes.push(status) }, failures),
    failures,
  );
  webhookDispatcher = new WebhookDispatcher(store, attempts, mutex, { webhookHostPerSecond: 1_000 }, failures);
  return { outcomes, errors };
}

beforeEach(() => vi.useFakeTimers());
afterEach(async () => {
  await webhookDispatcher?.stop();
  vi.useRealTimers();
});

const NOTHING_DUE = { claimed: [], leftOver: [], more: false };
const TRANSACTION: Executor = { query: () => Promise.resolve([]) };

/** Dispatches one event, as the outbox does; `created` are its deliveries. */
async function dispatchEvent(created: NewDeliveries): Promise<void> {
  if (webhookDispatcher === undefined) throw new Error('there is no dispatcher');
  const event = { ...DELIVERY, sessionId: null, occurredAt: new Date(0), data: '{}', webhookUrl: DELIVERY.url };
  const createDeliveries = vi.fn(() => Promise.resolve(created));
  const subscriber = new DeliverySubscriber({ createDeliveries }, webhookDispatcher);
  const react = await subscriber.handle(TRANSACTION, [{ ...event, type: 'verification.completed' }]);
  expect(createDeliveries).toHaveBeenCalledOnce();
  react();
  await vi.advanceTimersByTimeAsync(0);
}

describe('the webhook dispatcher', () => {
  it('sends due deliveries while events cannot be dispatched', async () => {
    const fault = new Error('no partition for this event');
    const mutex = new Mutex();
    const failed: unknown[] = [];
    const outbox = new OutboxDispatcher(
      { dispatchNamed: () => Promise.reject(fault), dispatchUndispatched: () => Promise.reject(fault) },
      mutex,
      new EventJobNotifier(),
      { about: () => (error) => failed.push(error) },
      { nowMs: () => 0 },
    );
    const { outcomes, errors } = dispatcherOver({}, undefined, mutex);
    await vi.advanceTimersByTimeAsync(0);
    expect([outcomes, failed, errors]).toEqual([['succeeded'], [fault], []]);
    await outbox.stop();
  });

  it('sends deliveries that were claimed as they were created, without another claim', async () => {
    const claims = vi.fn(() => Promise.resolve({ claimed: [], leftOver: [], more: false }));
    const { outcomes } = dispatcherOver({ claimDueDeliveries: claims });
    await vi.advanceTimersByTimeAsync(0);
    expect(claims).toHaveBeenCalledTimes(1);
    expect(webhookDispatcher?.capacityForNew('acme.example')).toBe(5);
    await dispatchEvent({ claimed: [DELIVERY], leftOver: [] });
    expect(outcomes).toEqual(['succeeded']);
    expect(claims).toHaveBeenCalledTimes(1);
  });

  it('claims deliveries that were created beyond the capacity of their host once it has capacity', async () => {
    const claims = vi.fn(() => Promise.resolve({ claimed: [], leftOver: [], more: false }));
    dispatcherOver({ claimDueDeliveries: claims });
    await vi.advanceTimersByTimeAsync(0);
    await dispatchEvent({ claimed: [], leftOver: ['acme.example'] });
    expect(claims).toHaveBeenCalledTimes(2);
  });

  it('claims no delivery of a test event as it is created, since its request dispatches it during claims', async () => {
    const { outcomes } = dispatcherOver({ claimDueDeliveries: () => Promise.resolve(NOTHING_DUE) });
    if (webhookDispatcher === undefined) throw new Error('there is no dispatcher');
    const createDeliveries = vi.fn(() => Promise.resolve({ claimed: [], leftOver: ['acme.example'] }));
    const event = { ...DELIVERY, sessionId: null, occurredAt: new Date(0), data: '{}', webhookUrl: DELIVERY.url };
    const events = [{ ...event, type: 'webhook.test' as const }];
    const claims = vi.spyOn(webhookDispatcher, 'wake');
    const react = await new DeliverySubscriber({ createDeliveries }, webhookDispatcher).handle(TRANSACTION, events);
    react();
    expect(createDeliveries.mock.calls).toEqual([[TRANSACTION, events]]);
    expect([outcomes, claims.mock.calls]).toEqual([[], []]);
  });

  it('starts the next POST while the record of the last attempt is under way', async () => {
    const claimed = Array.from({ length: 7 }, (_, at) => ({ ...DELIVERY, id: `${DELIVERY.id.slice(0, -1)}${at}` }));
    const posted = vi.fn(() => Promise.resolve(OK));
    const recorded: ((won: boolean) => void)[] = [];
    const { outcomes } = dispatcherOver(
      {
        claimDueDeliveries: () => Promise.resolve({ claimed: claimed.splice(0), leftOver: [], more: false }),
        recordAttempt: () => new Promise((resolve) => recorded.push(resolve)),
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
