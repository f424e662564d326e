import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWebhookSecret } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Backlog } from '../../apps/control-plane/src/webhooks/backlog.js';
import { judgeAttempt, type AttemptResult } from '../../apps/control-plane/src/webhooks/attempt.js';
import type { ClaimedDelivery, DeliveryStore } from '../../apps/control-plane/src/webhooks/delivery.store.js';
import { guardedAgent } from '../../apps/control-plane/src/webhooks/guarded-agent.js';
import { TargetRules } from '../../apps/control-plane/src/targets/target.js';
import { WebhookPoster } from '../../apps/control-plane/src/webhooks/webhook-poster.js';
import { deliveryStoreOf } from '../support/delivery-store.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

const SECRET = createWebhookSecret();
const ROOM_FOR_ALL = { fullHosts: [], roomFor: () => 100 };
const rules = new TargetRules({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true });

let harness: SessionHarness;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  harness = await openSessionHarness();
});
afterAll(() => harness.close());
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  for (const table of ['deliveries', 'events']) await harness.database.query(`DELETE FROM ${table}`);
});

/** What moves webhooks in one process; two of them share nothing but the database. */
function worker(): { readonly store: DeliveryStore; readonly poster: WebhookPoster } {
  const store = deliveryStoreOf(harness, (_id, error) => {
    throw error;
  });
  const poster = new WebhookPoster(rules, guardedAgent(rules, null));
  closers.push(() => poster.close());
  return { store, poster };
}

async function receiver(): Promise<Receiver> {
  const started = await startReceiver();
  closers.push(() => started.close());
  return started;
}

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

/** An event that is to be told there, as a delivery that is due. */
async function due({ store }: { store: DeliveryStore }, url: string): Promise<Uuid> {
  const id = harness.clock.newId();
  await store.dispatchNew({
    ...{
      id,
      type: 'webhook.test',
      accountId: harness.account.id,
      test: false,
      sessionId: null,
      occurredAt: new Date(harness.clock.nowMs()),
    },
    ...{ data: '{"id":"test"}', sessionWebhookUrl: url },
  });
  return id;
}

const post = ({ poster }: { poster: WebhookPoster }, { id, url, body }: ClaimedDelivery): Promise<AttemptResult> =>
  poster.post({ eventId: id, url, body, secrets: [SECRET], nowMs: harness.clock.nowMs() });

async function claimOne({ store }: { store: DeliveryStore }): Promise<ClaimedDelivery> {
  const [claimed] = (await store.claim(ROOM_FOR_ALL)).claimed;
  if (claimed === undefined) throw new Error('nothing is due');
  return claimed;
}

function verdictOf({ attemptsMade, beside }: ClaimedDelivery, result: AttemptResult) {
  const nowMs = harness.clock.nowMs();
  return judgeAttempt({ result, number: attemptsMade + 1, startedMs: nowMs, endedMs: nowMs, beside }, 0.5);
}

/** As if the lease had been taken so much earlier. */
const leaseIsOver = (): Promise<unknown> =>
  harness.database.query(
    `UPDATE deliveries SET claimed_until = claimed_until - interval '1 minute',
       next_attempt_at = next_attempt_at - interval '1 minute'`,
  );

describe('a worker that is killed', () => {
  it('between the POST and its record costs one more delivery, under the same id', async () => {
    const target = await receiver();
    const [doomed, other] = [worker(), worker()];
    await due(doomed, target.url);
    const first = await claimOne(doomed);
    const result = await post(doomed, first);
    expect((await other.store.claim(ROOM_FOR_ALL)).claimed).toEqual([]);
    await leaseIsOver();
    const second = await claimOne(other);
    expect(await other.store.record(second, verdictOf(second, await post(other, second)))).toBe(true);
    // It was only slow: what it records now is no longer its to record.
    expect(await doomed.store.record(first, verdictOf(first, result))).toBe(false);
    expect((await other.store.claim(ROOM_FOR_ALL)).claimed).toEqual([]);
    const [one, more] = target.received;
    expect([target.received.length, more?.body]).toEqual([2, one?.body]);
    expect(more?.headers['webhook-id']).toBe(one?.headers['webhook-id']);
    const rows = await harness.database.query(
      'SELECT status, jsonb_array_length(attempts) AS attempts FROM deliveries',
    );
    expect(rows).toEqual([{ status: 'succeeded', attempts: 1 }]);
  });

  it('with an attempt that somebody asked for leaves it asked for', async () => {
    const target = await receiver();
    const [doomed, other] = [worker(), worker()];
    await due(doomed, target.url);
    await harness.database.query(
      `UPDATE deliveries SET retry_asked = true, schedule_resumes_at = now() + interval '1 hour'`,
    );
    expect((await claimOne(doomed)).beside?.resumesAt).toBeInstanceOf(Date);
    await leaseIsOver();
    const second = await claimOne(other);
    expect(second.beside?.resumesAt).toBeInstanceOf(Date);
    await other.store.record(second, verdictOf(second, { kind: 'failed', error: 'ECONNREFUSED' }));
    const [row] = await harness.database.query(
      `SELECT status, retry_asked AS asked, attempts_before AS beside, next_attempt_at > now() + interval '59 minutes' AS later
       FROM deliveries`,
    );
    expect(row).toEqual({ status: 'pending', asked: false, beside: 1, later: true });
  });
});

describe('a receiver', () => {
  it('that hangs is given 15 seconds', async () => {
    const url = await listen(() => undefined);
    const startedMs = performance.now();
    const one = worker();
    await due(one, url);
    expect(await post(one, await claimOne(one))).toEqual({ kind: 'failed', error: 'timeout' });
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(14_900);
  });

  it('that pours 100 MB is read no further than it matters', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const url = await listen((request, response) => {
      request.resume();
      response.writeHead(200);
      const pour = (): void => {
        if (sent >= 100 * 1024 * 1024) return void response.end();
        sent += chunk.length;
        if (response.write(chunk)) setImmediate(pour);
        else response.once('drain', pour);
      };
      pour();
    });
    const one = worker();
    await due(one, url);
    expect(await post(one, await claimOne(one))).toEqual({ kind: 'answered', status: 200, retryAfter: null });
    // The rest fills what the kernel buffers, and no more.
    expect(sent).toBeLessThan(20 * 1024 * 1024);
  });

  it.each(['999999999', '99999999999999999999', 'Wed, 21 Oct 9999 07:28:00 GMT', '-5', '1e9', 'soon'])(
    'that asks for an absurd time gets at most twice the step: Retry-After: %s',
    async (retryAfter) => {
      const url = await listen((request, response) => {
        request.resume();
        response.writeHead(429, { 'retry-after': retryAfter }).end();
      });
      const one = worker();
      await due(one, url);
      const claimed = await claimOne(one);
      const verdict = verdictOf(claimed, await post(one, claimed));
      const waitMs = (verdict.nextAttemptAt?.getTime() ?? 0) - Date.parse(verdict.attempt.at);
      expect(verdict.status).toBe('pending');
      expect(waitMs).toBeGreaterThanOrEqual(4_000);
      expect(waitMs).toBeLessThanOrEqual(10_000);
    },
  );

  it('that never ends its answer has answered all the same, and holds its place no longer', async () => {
    const url = await listen((request, response) => {
      request.resume();
      response.writeHead(200).write('and ');
    });
    const one = worker();
    await due(one, url);
    const startedMs = performance.now();
    expect(await post(one, await claimOne(one))).toEqual({ kind: 'answered', status: 200, retryAfter: null });
    expect(performance.now() - startedMs).toBeLessThan(14_000);
  });

  it.each([
    [10, { kind: 'answered', status: 200, retryAfter: null }],
    [11, { kind: 'failed', error: 'TooManyInterimAnswers' }],
  ])('that says %d times that it will answer', async (times, expected) => {
    const url = await listen((request, response) => {
      request.resume();
      for (let time = 0; time < times; time++) response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.writeHead(200).end();
    });
    const one = worker();
    await due(one, url);
    expect(await post(one, await claimOne(one))).toEqual(expected);
  });

  it.each([301, 302, 303, 307, 308])('that redirects with %d is not followed', async (status) => {
    const elsewhere = await receiver();
    const url = await listen((request, response) => {
      request.resume();
      response.writeHead(status, { location: elsewhere.url }).end();
    });
    const one = worker();
    await due(one, url);
    expect(await post(one, await claimOne(one))).toEqual({ kind: 'answered', status, retryAfter: null });
    expect(elsewhere.received).toHaveLength(0);
  });
});

describe('a delivery', () => {
  it.each([
    ['of its schedule', false, 2],
    ['that was asked for', true, 1],
  ])('keeps its last hundred attempts before one %s, and its place in the schedule', async (_what, asked, made) => {
    const target = await receiver();
    const one = worker();
    await due(one, target.url);
    await harness.database.query(
      `UPDATE deliveries SET retry_asked = $1, attempts_before = 99,
         attempts = (SELECT jsonb_agg(jsonb_build_object('number', n)) FROM generate_series(1, 100) AS n)`,
      [asked],
    );
    const claimed = await claimOne(one);
    expect(claimed.attemptsMade).toBe(1);
    await one.store.record(claimed, verdictOf(claimed, { kind: 'failed', error: 'ECONNREFUSED' }));
    const [row] = await harness.database.query(
      `SELECT jsonb_array_length(attempts) AS kept, attempts -> 0 ->> 'number' AS first, attempts -> 99 ->> 'error' AS last,
         jsonb_array_length(attempts) - attempts_before AS made FROM deliveries`,
    );
    expect(row).toEqual({ kept: 100, first: '2', last: 'ECONNREFUSED', made });
  });
});

describe('deliveries to a host that does not answer', () => {
  it('are put off for its pause, and others are not', async () => {
    const [dead, well] = ['http://127.0.0.1:1/hook', 'http://127.0.0.1:2/hook'];
    const one = worker();
    for (const url of [dead, dead, well]) await due(one, url);
    expect(await one.store.postpone([{ host: '127.0.0.1:1', leftMs: 20_000 }])).toBe(2);
    expect(await one.store.postpone([{ host: '127.0.0.1:1', leftMs: 20_000 }])).toBe(0);
    expect((await one.store.claim(ROOM_FOR_ALL)).claimed.map(({ url }) => url)).toEqual([well]);
    const rows = await harness.database.query(
      `SELECT next_attempt_at BETWEEN now() + interval '15 seconds' AND now() + interval '31 seconds' AS soon
       FROM deliveries WHERE url = $1`,
      [dead],
    );
    expect(rows).toEqual([{ soon: true }, { soon: true }]);
  });
});

describe('deliveries to a host for which far more waits than it takes', () => {
  it('are put off until they are in nobody’s way', async () => {
    const [overloaded, well] = ['http://127.0.0.1:1/hook', 'http://127.0.0.1:2/hook'];
    const one = worker();
    await harness.database.query(
      `INSERT INTO deliveries (id, account_id, type, url, occurred_at, next_attempt_at)
       SELECT (substr($1, 1, 13) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $2, 'webhook.test', $3, now(),
         now() - interval '1 minute' FROM generate_series(1, 28000) AS n`,
      [harness.clock.newId(), harness.account.id, overloaded],
    );
    const id = await due(one, well);
    const backlog = new Backlog(one.store);
    const put: number[] = [];
    do put.push(await backlog.putOff([], ['127.0.0.1:1']));
    while (put.at(-1) !== 0);
    expect(put).toEqual([1_000, 1_000, 0]);
    expect(await one.store.dueTo(['127.0.0.1:1'], 100_000)).toBe(18_000);
    const { claimed } = await one.store.claim({ fullHosts: ['127.0.0.1:1'], roomFor: () => 100 });
    expect(claimed.map((each) => each.id)).toEqual([id]);
  });
});

describe('one event', () => {
  it('that many workers take at once makes one delivery, which one of them claims', async () => {
    const target = await receiver();
    await harness.database.query(`UPDATE accounts SET webhook_events = '{verification.cancelled}'`);
    const { id, accountId } = await harness.sessions.create(harness.draft({ webhookUrl: target.url }));
    harness.notifiedEventIds.length = 0;
    await Promise.all(Array.from({ length: 8 }, () => harness.sessions.cancel(liveTenant(accountId), id)));
    expect(harness.notifiedEventIds).toHaveLength(1);
    const workers = Array.from({ length: 4 }, () => worker());
    await Promise.all(workers.map(({ store }) => store.dispatchNamed(harness.notifiedEventIds)));
    const claims = await Promise.all(workers.map(({ store }) => store.claim(ROOM_FOR_ALL)));
    expect(claims.flatMap(({ claimed }) => claimed.map((each) => each.id))).toEqual(harness.notifiedEventIds);
  });
});
