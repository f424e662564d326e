import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWebhookSecret } from '@countersign/keys';
import { newId, type Uuid } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Backlog } from '../../apps/control-plane/src/webhooks/backlog.js';
import { judgeAttempt, type AttemptResult } from '../../apps/control-plane/src/webhooks/attempt.js';
import type { ClaimedDelivery } from '../../apps/control-plane/src/webhooks/delivery.store.js';
import { guardedAgent } from '../../apps/control-plane/src/webhooks/guarded-agent.js';
import { TargetRules } from '../../apps/control-plane/src/targets/target.js';
import { WebhookPoster } from '../../apps/control-plane/src/webhooks/webhook-poster.js';
import { asOwner } from '../support/database.js';
import { type DeliveryWorker, deliveryWorkerOf } from '../support/delivery-store.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';
import { until } from '../support/until.js';

const SECRET = createWebhookSecret();
/** Older than any schedule of attempts. */
const OLD_DAYS = 5;
const DAY_MS = 24 * 60 * 60 * 1000;
const CAPACITY_FOR_ALL = {
  fullHosts: [],
  fullAccounts: [],
  capacityFor: () => 100,
  capacityForAccount: () => 100,
};
const rules = new TargetRules({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true });

let harness: SessionHarness;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  harness = await openSessionHarness({ pastDays: OLD_DAYS });
});
afterAll(() => harness.close());
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  for (const table of ['deliveries', 'events']) await harness.database.query(`DELETE FROM ${table}`);
});

/** The sending of webhooks in one process; two of these share nothing but the database. */
interface Worker extends DeliveryWorker {
  readonly poster: WebhookPoster;
}

function worker(): Worker {
  const deliveries = deliveryWorkerOf(harness, (error) => {
    throw error;
  });
  const poster = new WebhookPoster(rules, guardedAgent(rules, null));
  closers.push(() => poster.close());
  return { ...deliveries, poster };
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

/** Creates a due delivery to this URL. */
async function createDue({ outbox }: Pick<Worker, 'outbox'>, url: string, id = harness.clock.newId()): Promise<Uuid> {
  await outbox.dispatchNew({
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

const post = (
  { poster }: Pick<Worker, 'poster'>,
  { id, url, body, accountId, test }: ClaimedDelivery,
): Promise<AttemptResult> =>
  poster.post({ eventId: id, owner: { accountId, test }, url, body, secrets: [SECRET], nowMs: harness.clock.nowMs() });

async function claimOne({ store }: Pick<Worker, 'store'>): Promise<ClaimedDelivery> {
  const [claimed] = (await store.claimDueDeliveries(CAPACITY_FOR_ALL)).claimed;
  if (claimed === undefined) throw new Error('nothing is due');
  return claimed;
}

function verdictOf({ attemptsMade, beside }: ClaimedDelivery, result: AttemptResult) {
  const nowMs = harness.clock.nowMs();
  return judgeAttempt({ result, number: attemptsMade + 1, startedMs: nowMs, endedMs: nowMs, beside }, 0.5);
}

/** Ends the lease by moving it into the past. */
const endLease = (): Promise<unknown> =>
  harness.database.query(
    `UPDATE deliveries SET claimed_until = claimed_until - interval '1 minute',
       next_attempt_at = next_attempt_at - interval '1 minute'`,
  );

describe('a process that is killed', () => {
  it('between a POST and its record causes one more POST with the same id', async () => {
    const target = await receiver();
    const [doomed, other] = [worker(), worker()];
    await createDue(doomed, target.url);
    const first = await claimOne(doomed);
    const result = await post(doomed, first);
    expect((await other.store.claimDueDeliveries(CAPACITY_FOR_ALL)).claimed).toEqual([]);
    await endLease();
    const second = await claimOne(other);
    expect(await other.store.recordAttempt(second, verdictOf(second, await post(other, second)))).toBe(true);
    // The first process was only slow: it lost its lease, so it may not record.
    expect(await doomed.store.recordAttempt(first, verdictOf(first, result))).toBe(false);
    expect((await other.store.claimDueDeliveries(CAPACITY_FOR_ALL)).claimed).toEqual([]);
    const [one, more] = target.received;
    expect([target.received.length, more?.body]).toEqual([2, one?.body]);
    expect(more?.headers['webhook-id']).toBe(one?.headers['webhook-id']);
    const rows = await harness.database.query(
      'SELECT status, jsonb_array_length(attempts) AS attempts FROM deliveries',
    );
    expect(rows).toEqual([{ status: 'succeeded', attempts: 1 }]);
  });

  it('during a requested retry leaves the retry requested', async () => {
    const target = await receiver();
    const [doomed, other] = [worker(), worker()];
    await createDue(doomed, target.url);
    await harness.database.query(
      `UPDATE deliveries SET retry_asked = true, schedule_resumes_at = now() + interval '1 hour'`,
    );
    expect((await claimOne(doomed)).beside?.resumesAt).toBeInstanceOf(Date);
    await endLease();
    const second = await claimOne(other);
    expect(second.beside?.resumesAt).toBeInstanceOf(Date);
    await other.store.recordAttempt(second, verdictOf(second, { kind: 'failed', error: 'ECONNREFUSED' }));
    const [row] = await harness.database.query(
      `SELECT status, retry_asked AS asked, attempts_before AS beside, next_attempt_at > now() + interval '59 minutes' AS later
       FROM deliveries`,
    );
    expect(row).toEqual({ status: 'pending', asked: false, beside: 1, later: true });
  });
});

describe('a receiver', () => {
  it('that does not respond has 15 seconds', async () => {
    const url = await listen(() => undefined);
    const startedMs = performance.now();
    const one = worker();
    await createDue(one, url);
    expect(await post(one, await claimOne(one))).toEqual({ kind: 'failed', error: 'timeout' });
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(14_900);
  });

  it('that sends 100 MB is not read to the end', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const url = await listen((request, response) => {
      request.resume();
      response.writeHead(200);
      const write = (): void => {
        if (sent >= 100 * 1024 * 1024) return void response.end();
        sent += chunk.length;
        if (response.write(chunk)) setImmediate(write);
        else response.once('drain', write);
      };
      write();
    });
    const one = worker();
    await createDue(one, url);
    expect(await post(one, await claimOne(one))).toEqual({ kind: 'answered', status: 200, retryAfter: null });
    // The kernel buffers more than was read.
    expect(sent).toBeLessThan(20 * 1024 * 1024);
  });

  it.each(['999999999', '99999999999999999999', 'Wed, 21 Oct 9999 07:28:00 GMT', '-5', '1e9', 'soon'])(
    'that sends an absurd Retry-After is retried after two steps at most: %s',
    async (retryAfter) => {
      const url = await listen((request, response) => {
        request.resume();
        response.writeHead(429, { 'retry-after': retryAfter }).end();
      });
      const one = worker();
      await createDue(one, url);
      const claimed = await claimOne(one);
      const verdict = verdictOf(claimed, await post(one, claimed));
      const waitMs = (verdict.nextAttemptAt?.getTime() ?? 0) - Date.parse(verdict.attempt.at);
      expect(verdict.status).toBe('pending');
      expect(waitMs).toBeGreaterThanOrEqual(4_000);
      expect(waitMs).toBeLessThanOrEqual(10_000);
    },
  );

  it('that never ends its response has responded, and its request is not kept in flight', async () => {
    const url = await listen((request, response) => {
      request.resume();
      response.writeHead(200).write('and ');
    });
    const one = worker();
    await createDue(one, url);
    const startedMs = performance.now();
    expect(await post(one, await claimOne(one))).toEqual({ kind: 'answered', status: 200, retryAfter: null });
    expect(performance.now() - startedMs).toBeLessThan(14_000);
  });

  it.each([
    [10, { kind: 'answered', status: 200, retryAfter: null }],
    [11, { kind: 'failed', error: 'TooManyInterimAnswers' }],
  ])('that sends %d interim responses', async (times, expected) => {
    const url = await listen((request, response) => {
      request.resume();
      for (let time = 0; time < times; time++) response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.writeHead(200).end();
    });
    const one = worker();
    await createDue(one, url);
    expect(await post(one, await claimOne(one))).toEqual(expected);
  });

  it.each([301, 302, 303, 307, 308])('that redirects with %d is not followed', async (status) => {
    const elsewhere = await receiver();
    const url = await listen((request, response) => {
      request.resume();
      response.writeHead(status, { location: elsewhere.url }).end();
    });
    const one = worker();
    await createDue(one, url);
    expect(await post(one, await claimOne(one))).toEqual({ kind: 'answered', status, retryAfter: null });
    expect(elsewhere.received).toHaveLength(0);
  });
});

describe('a delivery', () => {
  it.each([
    ['of its schedule', false, 2],
    ['that was requested', true, 1],
  ])(
    'keeps its last hundred attempts when one %s is added, and its position in the schedule',
    async (_kind, requested, made) => {
      const target = await receiver();
      const one = worker();
      await createDue(one, target.url);
      await harness.database.query(
        `UPDATE deliveries SET retry_asked = $1, attempts_before = 99,
         attempts = (SELECT jsonb_agg(jsonb_build_object('number', n)) FROM generate_series(1, 100) AS n)`,
        [requested],
      );
      const claimed = await claimOne(one);
      expect(claimed.attemptsMade).toBe(1);
      await one.store.recordAttempt(claimed, verdictOf(claimed, { kind: 'failed', error: 'ECONNREFUSED' }));
      const [row] = await harness.database.query(
        `SELECT jsonb_array_length(attempts) AS kept, attempts -> 0 ->> 'number' AS first, attempts -> 99 ->> 'error' AS last,
         jsonb_array_length(attempts) - attempts_before AS made FROM deliveries`,
      );
      expect(row).toEqual({ kept: 100, first: '2', last: 'ECONNREFUSED', made });
    },
  );
});

describe('deliveries to a host that does not respond', () => {
  it('are postponed for its pause, and others are not', async () => {
    const [dead, healthy] = ['http://127.0.0.1:1/hook', 'http://127.0.0.1:2/hook'];
    const one = worker();
    for (const url of [dead, dead, healthy]) await createDue(one, url);
    expect(await one.store.postponeDeliveries([{ host: '127.0.0.1:1', leftMs: 20_000 }])).toBe(2);
    expect(await one.store.postponeDeliveries([{ host: '127.0.0.1:1', leftMs: 20_000 }])).toBe(0);
    expect((await one.store.claimDueDeliveries(CAPACITY_FOR_ALL)).claimed.map(({ url }) => url)).toEqual([healthy]);
    const rows = await harness.database.query(
      `SELECT next_attempt_at BETWEEN now() + interval '15 seconds' AND now() + interval '31 seconds' AS soon
       FROM deliveries WHERE url = $1`,
      [dead],
    );
    expect(rows).toEqual([{ soon: true }, { soon: true }]);
  });
});

describe('deliveries to an overloaded host', () => {
  it('are postponed until few enough are due', async () => {
    const [overloaded, healthy] = ['http://127.0.0.1:1/hook', 'http://127.0.0.1:2/hook'];
    const one = worker();
    await harness.database.query(
      `INSERT INTO deliveries (id, account_id, type, url, occurred_at, next_attempt_at)
       SELECT (substr($1, 1, 13) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $2, 'webhook.test', $3, now(),
         now() - interval '1 minute' FROM generate_series(1, 28000) AS n`,
      [harness.clock.newId(), harness.account.id, overloaded],
    );
    const id = await createDue(one, healthy);
    const backlog = new Backlog(one.store);
    const postponed: number[] = [];
    do postponed.push(await backlog.postpone([], ['127.0.0.1:1']));
    while (postponed.at(-1) !== 0);
    expect(postponed).toEqual([1_000, 1_000, 0]);
    expect(await one.store.countDueTo(['127.0.0.1:1'], 100_000)).toBe(18_000);
    const { claimed } = await one.store.claimDueDeliveries({ ...CAPACITY_FOR_ALL, fullHosts: ['127.0.0.1:1'] });
    expect(claimed.map((each) => each.id)).toEqual([id]);
  });
});

describe('the backlog of one account', () => {
  const ROWS = 41_000;

  /** Inserts deliveries of the harness's account, due after an interval from now. */
  const insertDeliveries = (from: number, count: number, dueIn: string): Promise<unknown> =>
    harness.database.query(
      `INSERT INTO deliveries (id, account_id, type, url, occurred_at, next_attempt_at)
       SELECT (substr($1, 1, 13) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $2, 'webhook.test',
         'http://127.0.0.1:1/hook', now(), now() + $3::interval FROM generate_series($4::int, $5::int) AS n`,
      [harness.clock.newId(), harness.account.id, dueIn, from, from + count - 1],
    );

  beforeEach(async () => {
    await insertDeliveries(1, ROWS, '-1 hour');
  });

  /** Creates a due delivery of another account. */
  async function createOfOther(one: Worker, id = harness.clock.newId()): Promise<Uuid> {
    const { account } = await harness.accounts.createAccount(harness.database, { name: 'Other' });
    await createDue(one, 'http://127.0.0.1:2/hook', id);
    for (const table of ['deliveries', 'events']) {
      await harness.database.query(`UPDATE ${table} SET account_id = $1 WHERE id = $2`, [account.id, id]);
    }
    return id;
  }

  const claimPast = async ({ store }: Worker, fullAccounts: readonly Uuid[]): Promise<Uuid[]> => {
    const { claimed } = await store.claimDueDeliveries({
      ...CAPACITY_FOR_ALL,
      fullAccounts: fullAccounts.map((accountId) => ({ accountId, test: false })),
      capacityForAccount: ({ accountId }) => (accountId === harness.account.id ? 0 : 100),
      pastBacklogs: true,
    });
    return claimed.map(({ id }) => id);
  };

  it('does not hide deliveries of others, whether its own are read or not', async () => {
    const one = worker();
    const first = await createOfOther(one);
    expect(await claimPast(one, [])).toEqual([first]);
    const second = await createOfOther(one);
    expect(await claimPast(one, [harness.account.id])).toEqual([second]);
  });

  it('does not hide those that are older than any schedule for long', async () => {
    const one = worker();
    await createOfOther(one);
    expect(await claimPast(one, [])).toHaveLength(1);
    const old = await createOfOther(one, newId(harness.clock.nowMs() - OLD_DAYS * DAY_MS));
    await until('the old one is claimed', 20_000, async () => (await claimPast(one, [])).includes(old));
  });

  it('does not hide deliveries whose process has died', async () => {
    const one = worker();
    const id = await createOfOther(one);
    expect(await claimPast(one, [harness.account.id])).toContain(id);
    await harness.database.query(
      `UPDATE deliveries SET claimed_until = now() - interval '1 ms', next_attempt_at = now() - interval '1 ms'
       WHERE id = $1`,
      [id],
    );
    expect(await claimPast(one, [harness.account.id])).toContain(id);
  });

  it('is postponed in time when the statistics are older than the backlog', async () => {
    await asOwner(harness, 'TRUNCATE deliveries');
    await insertDeliveries(1, 500, '-1 hour');
    await harness.database.query(`UPDATE deliveries SET next_attempt_at = now() + interval '1 day'`);
    await asOwner(harness, 'ANALYZE deliveries');
    await insertDeliveries(1_000, ROWS, '-1 hour');
    const paused = [{ host: '127.0.0.1:1', leftMs: 60_000 }];
    expect(await worker().store.postponeDeliveries(paused, 5_000)).toBe(5_000);
  });

  it('is read in part only to find or count deliveries to other hosts', async () => {
    const one = worker();
    await harness.database.query(
      `UPDATE deliveries SET url = 'http://127.0.0.1:3/hook', next_attempt_at = now() - interval '1 minute'
       WHERE id IN (SELECT id FROM deliveries ORDER BY id DESC LIMIT 2000)`,
    );
    const hosts = ['127.0.0.1:3'];
    // 40,000 are read: 39,000 to the other host come first.
    expect(await one.store.countDueTo(hosts, 100_000)).toBe(1_000);
    expect(await one.store.postponeDeliveries([{ host: '127.0.0.1:3', leftMs: 60_000 }], 5_000)).toBe(1_000);
  });
});

describe('one event', () => {
  it('that many processes dispatch at once has one delivery, which one of them claims', async () => {
    const target = await receiver();
    await harness.database.query(`UPDATE accounts SET webhook_events = '{verification.cancelled}'`);
    const { id, accountId } = await harness.sessions.create(harness.draft({ webhookUrl: target.url }));
    harness.notifiedEventIds.length = 0;
    await Promise.all(Array.from({ length: 8 }, () => harness.sessions.cancel(liveTenant(accountId), id)));
    expect(harness.notifiedEventIds).toHaveLength(1);
    const workers = Array.from({ length: 4 }, () => worker());
    await Promise.all(workers.map(({ dispatchNamed }) => dispatchNamed(harness.notifiedEventIds)));
    const claims = await Promise.all(workers.map(({ store }) => store.claimDueDeliveries(CAPACITY_FOR_ALL)));
    expect(claims.flatMap(({ claimed }) => claimed.map((each) => each.id))).toEqual(harness.notifiedEventIds);
  });
});
