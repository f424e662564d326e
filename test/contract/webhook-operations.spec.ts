import { readFileSync } from 'node:fs';
import path from 'node:path';
import { AccountStore, type Scope } from '@countersign/accounts/accounts';
import { parseId } from '@countersign/ids';
import { CountersignClient } from '@countersign/sdk';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, ControlPlaneHarness } from '../support/control-plane-harness.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import {
  DELIVERIES as LIST,
  deliveriesOf,
  deliveryOf,
  hasEnded,
  signedBy,
  WebhookCalls,
  type Delivery,
} from '../support/webhook-calls.js';

let harness: ControlPlaneHarness;
let calls: WebhookCalls;
let foreignKey: string;
const receivers: Receiver[] = [];

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  calls = new WebhookCalls(harness);
  const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  foreignKey = await harness.database.transaction(async (tx) => {
    const { account } = await accounts.createAccount(tx, { name: 'Other' });
    return (await accounts.createApiKey(tx, { accountId: account.id, kind: 'live', name: 'other' })).key;
  });
});
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((each) => each.close()));
  await harness.database.query('UPDATE accounts SET default_webhook_url = NULL');
});
afterAll(() => harness.close());

async function receiver(...statuses: number[]): Promise<Receiver> {
  const started = await startReceiver();
  started.answerWith(...statuses);
  receivers.push(started);
  return started;
}

const find = (id: string): Promise<Delivery> => calls.find(id);
const retry = (id: string): Promise<Answer> => calls.retry(id);
const test = (body?: unknown): Promise<Answer> => calls.test(body);
const waitForDelivery = (id: string, holds?: (delivery: Delivery) => boolean): Promise<Delivery> =>
  calls.waitForDelivery(id, holds);
const attemptedDelivery = (changes: Readonly<Record<string, unknown>>): ReturnType<WebhookCalls['attemptedDelivery']> =>
  calls.attemptedDelivery(changes);

/** Postpones the next attempt of the delivery beyond the test. */
const postpone = (id: string, status = 'pending'): Promise<unknown> =>
  harness.database.query(
    `UPDATE deliveries SET status = $2, next_attempt_at = CASE WHEN $2 = 'pending' THEN now() + interval '1 hour' END
     WHERE id = $1`,
    [parseId('dlv', id), status],
  );

async function keyWith(scopes: readonly Scope[]): Promise<string> {
  const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const accountId = parseId('acct', harness.demo.accountId) ?? '';
  const made = await harness.database.transaction((tx) =>
    accounts.createApiKey(tx, { accountId, kind: 'live', name: 'scoped', scopes }),
  );
  return made.key;
}

describe('GET /v1/webhooks/deliveries', () => {
  it('shows the result of every webhook, newest first, without secrets', async () => {
    const target = await receiver();
    const metadata = { authEntropy: 'mine', '9': '"fallbackUri":"x"', fallbackUri: 'mine too' };
    const delivery = await attemptedDelivery({ webhookUrl: target.url, metadata });
    const { id, sessionId } = delivery;
    expect(delivery).toEqual({
      id: expect.stringMatching(/^dlv_[0-9A-HJKMNP-TV-Z]{26}$/) as string,
      eventId: id.replace('dlv_', 'evt_'),
      type: 'verification.completed',
      sessionId,
      url: target.url,
      status: 'succeeded',
      attempts: [{ at: expect.any(String) as string, status: 200, latencyMs: expect.any(Number) as number }],
      nextAttemptAt: null,
      body: expect.anything() as object,
    });
    const session = (await harness.call(`/v1/verify/${sessionId}`)).json;
    expect(delivery.body?.data).toEqual({ ...session, fallbackUri: '[redacted]', authEntropy: '[redacted]' });
    const { text } = await harness.call(`${LIST}/${id}`);
    expect(text).not.toContain(String(session['authEntropy']));
    expect(text).not.toContain('AUTH-ACME');
    expect(target.received[0]?.headers['webhook-id']).toBe(delivery.eventId);
  });

  it('pages, and filters by status', async () => {
    const target = await receiver(410);
    const gone = await attemptedDelivery({ webhookUrl: target.url });
    const others = [
      await attemptedDelivery({ webhookUrl: target.url }),
      await attemptedDelivery({ webhookUrl: target.url }),
    ];
    const failed = deliveriesOf(await harness.call(`${LIST}?status=failed&limit=100`));
    expect(failed.map(({ id }) => id)).toContain(gone.id);
    expect(failed.every(({ status }) => status === 'failed')).toBe(true);
    const first = await harness.call(`${LIST}?limit=1`);
    expect([deliveriesOf(first)[0]?.id, first.json['hasMore']]).toEqual([others[1]?.id, true]);
    const next = await harness.call(`${LIST}?limit=2&startingAfter=${others[1]?.id ?? ''}`);
    expect(deliveriesOf(next).map(({ id }) => id)).toEqual([others[0]?.id, gone.id]);
  });

  it.each([
    ['status', 'status=done'],
    ['limit', 'limit=0'],
    ['limit', 'limit=101'],
    ['startingAfter', 'startingAfter=dlv_1'],
    ['startingAfter', 'startingAfter=dlv_01HF7YAT000000000000000009'],
    ['from', 'from=yesterday'],
  ])('refuses a bad %s (%s)', async (field, query) => {
    const { status, code, field: named } = await harness.call(`${LIST}?${query}`);
    expect([status, code, named]).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  it('shows an account its own deliveries and no other’s', async () => {
    const target = await receiver();
    const { id } = await attemptedDelivery({ webhookUrl: target.url });
    const call = { key: foreignKey };
    expect(deliveriesOf(await harness.call(LIST, call))).toEqual([]);
    const [foreign, unknown, none] = await Promise.all(
      [id, 'dlv_01HF7YAT000000000000000009', 'x'].map((each) => harness.call(`${LIST}/${each}`, call)),
    );
    expect([foreign?.status, foreign?.code]).toEqual([404, 'NOT_FOUND']);
    expect([unknown?.text, none?.text]).toEqual([foreign?.text, foreign?.text]);
    const retried = await harness.call(`${LIST}/${id}/retry`, { ...call, method: 'POST' });
    expect([retried.status, retried.code]).toEqual([404, 'NOT_FOUND']);
    expect((await harness.call(`${LIST}?startingAfter=${id}`, call)).field).toBe('startingAfter');
  });

  it('needs the scope webhooks', async () => {
    const key = await keyWith(['verify', 'otp', 'usage', 'realtime']);
    const reads = [LIST, `${LIST}/dlv_01HF7YAT000000000000000009`].map((target) => harness.call(target, { key }));
    const posts = ['deliveries/x/retry', 'test', 'secret/rotate'].map((name) =>
      harness.call(`/v1/webhooks/${name}`, { key, method: 'POST' }),
    );
    for (const { status, code } of await Promise.all([...reads, ...posts])) {
      expect([status, code]).toEqual([403, 'FORBIDDEN']);
    }
  });
});

describe('POST /v1/webhooks/deliveries/{id}/retry', () => {
  it('posts the same bytes under the same id once more', async () => {
    const target = await receiver();
    const { id, eventId } = await attemptedDelivery({ webhookUrl: target.url });
    const answer = await retry(id);
    expect(answer.status).toBe(202);
    expect(deliveryOf(answer)).toMatchObject({ id, eventId, status: 'pending' });
    await waitForDelivery(id, ({ status, attempts }) => status === 'succeeded' && attempts.length === 2);
    const [first, second] = target.received;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  });

  it('leaves the schedule of a pending one where it was', async () => {
    const target = await receiver(500, 500, 500);
    const { id } = await attemptedDelivery({ webhookUrl: target.url });
    await postpone(id);
    const before = await find(id);
    await retry(id);
    const after = await waitForDelivery(id, ({ attempts }) => attempts.length === 2);
    expect([after.status, after.nextAttemptAt]).toEqual(['pending', before.nextAttemptAt]);
    const [row] = await harness.database.query<{ made: number }>(
      'SELECT jsonb_array_length(attempts) - attempts_before AS made FROM deliveries WHERE id = $1',
      [parseId('dlv', id)],
    );
    expect(row?.made).toBe(1);
  });

  it('attempts an ended delivery once', async () => {
    const target = await receiver(410, 500);
    const { id, status } = await attemptedDelivery({ webhookUrl: target.url });
    expect(status).toBe('failed');
    await retry(id);
    const after = await waitForDelivery(id, ({ attempts }) => attempts.length === 2);
    expect([after.status, after.nextAttemptAt, after.attempts[1]?.status]).toEqual(['failed', null, 500]);
    await retry(id);
    expect((await waitForDelivery(id, ({ attempts }) => attempts.length === 3)).status).toBe('succeeded');
  });

  it('judges a blocked one anew', async () => {
    const target = await receiver();
    const { id } = await attemptedDelivery({ webhookUrl: target.url });
    await postpone(id, 'blocked');
    await retry(id);
    expect((await waitForDelivery(id, hasEnded)).status).toBe('succeeded');
  });

  it('finds a delivery that is older than any schedule at once, although its body was removed', async () => {
    const target = await receiver();
    const { id } = await attemptedDelivery({ webhookUrl: target.url });
    await harness.database.query('UPDATE deliveries SET body_sealed = NULL WHERE id = $1', [parseId('dlv', id)]);
    expect((await find(id)).body).toBeNull();
    await retry(id);
    await waitForDelivery(id, ({ status, attempts }) => status === 'succeeded' && attempts.length === 2);
    expect(target.received[1]?.body).toBe(target.received[0]?.body);
  });

  it('has to wait after thirty attempts within an hour', async () => {
    const target = await receiver();
    const { id } = await attemptedDelivery({ webhookUrl: target.url });
    const attemptedAgo = (seconds: number): Promise<unknown> =>
      harness.database.query(
        `UPDATE deliveries SET attempts = (SELECT jsonb_agg(jsonb_build_object('latencyMs', 1, 'status', 500, 'at',
           to_char(now() AT TIME ZONE 'UTC' - make_interval(secs => $2), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
           FROM generate_series(1, 30)) WHERE id = $1`,
        [parseId('dlv', id), seconds],
      );
    await attemptedAgo(3_000);
    const { status, code, headers } = await retry(id);
    expect([status, code]).toEqual([429, 'RATE_LIMITED']);
    expect(Math.abs(Number(headers['retry-after']) - 600)).toBeLessThan(30);
    await attemptedAgo(3_601);
    expect((await retry(id)).status).toBe(202);
    expect((await waitForDelivery(id, hasEnded)).attempts).toHaveLength(31);
  });

  it('requested concurrently is one attempt at a time', async () => {
    const target = await receiver(500, 500, 500);
    const { id } = await attemptedDelivery({ webhookUrl: target.url });
    await postpone(id);
    await harness.database.query(`UPDATE queue_switches SET paused_at = now() WHERE name = 'webhooks'`);
    await Promise.all(Array.from({ length: 8 }, () => retry(id)));
    await harness.database.query(`UPDATE queue_switches SET paused_at = NULL WHERE name = 'webhooks'`);
    expect((await waitForDelivery(id, ({ attempts }) => attempts.length === 2)).status).toBe('pending');
    expect(target.received).toHaveLength(2);
  });
});

describe('POST /v1/webhooks/test', () => {
  it('is delivered as every other event, to the named URL', async () => {
    const target = await receiver();
    const answer = await test({ url: target.url });
    expect(answer.status).toBe(202);
    const made = deliveryOf(answer);
    expect(made).toMatchObject({ type: 'webhook.test', sessionId: null, url: target.url, status: 'pending' });
    await waitForDelivery(made.id, ({ status }) => status === 'succeeded');
    const [posted] = target.received;
    if (posted === undefined) throw new Error('unreachable');
    expect(signedBy(harness.demo.webhookSecret, posted)).toBe(true);
    expect(JSON.parse(posted.body)).toEqual({
      type: 'webhook.test',
      timestamp: expect.any(String) as string,
      data: { accountId: harness.demo.accountId },
    });
    expect((await find(made.id)).body).toEqual(JSON.parse(posted.body));
    expect((await harness.documented()).eventFaults(posted)).toEqual([]);
  });

  it('goes to the default URL without a named one, with no body and with an empty one', async () => {
    const target = await receiver();
    await harness.database.query('UPDATE accounts SET default_webhook_url = $1', [target.url]);
    await until('the account is read anew', 10_000, async () => (await test()).status === 202);
    expect((await test({})).status).toBe(202);
    await until('both came', 10_000, () => target.received.length === 2);
  });

  it('is refused where there is no URL, and where it may not be called', async () => {
    const answers: unknown[] = [];
    await until('the account is read anew', 10_000, async () => (await test()).status === 422);
    for (const body of [undefined, { url: 7 }, { url: null }, { url: 'https://u:p@acme.example/' }, { to: 'x' }]) {
      const { status, code, field } = await test(body);
      answers.push([status, code, field]);
    }
    expect(answers).toEqual([
      [422, 'VALIDATION_ERROR', 'url'],
      [422, 'VALIDATION_ERROR', 'url'],
      [422, 'VALIDATION_ERROR', 'url'],
      [422, 'INVALID_WEBHOOK_URL', 'url'],
      [422, 'VALIDATION_ERROR', 'to'],
    ]);
  });

  it('to a name without a public address ends as blocked, like a delivery', async () => {
    const strict = await ControlPlaneHarness.open({ WEBHOOK_ALLOWED_CIDRS: '', WEBHOOK_ALLOW_HTTP: 'false' });
    try {
      const answer = await strict.call('/v1/webhooks/test', {
        method: 'POST',
        body: { url: 'https://localhost:4433/' },
      });
      const { id } = deliveryOf(answer);
      const status = async (): Promise<unknown> => (await strict.call(`${LIST}/${id}`)).json['status'];
      await expect.poll(status, { timeout: 10_000 }).toBe('blocked');
    } finally {
      await strict.close();
    }
  });
});

describe('a receiver that does not answer', () => {
  it('is left alone after a few attempts, and slows no other', async () => {
    const gone = await startReceiver();
    await gone.close();
    for (let count = 0; count < 15; count++) {
      await harness.approve(String((await harness.create({ webhookUrl: gone.url })).json['id']));
    }
    const ofGone = async (): Promise<Delivery[]> =>
      deliveriesOf(await harness.call(`${LIST}?limit=100`)).filter(({ url }) => url === gone.url);
    const tries = async (): Promise<number> => (await ofGone()).flatMap(({ attempts }) => attempts).length;
    const [well, startedMs] = [await receiver(), performance.now()];
    await test({ url: well.url });
    await until('the other receiver has the webhook', 5_000, () => well.received.length === 1);
    expect((well.received[0]?.atMs ?? 0) - startedMs).toBeLessThan(4_000);
    const metrics = async (): Promise<string> => (await fetch(`${harness.opsUrl}/metrics`)).text();
    await until('it is left alone', 10_000, async () => /webhook_hosts_broken(\{[^}]*\})? [1-9]/.test(await metrics()));
    const before = await tries();
    expect(before).toBeLessThanOrEqual(10);
    // Attempted at once, by this delivery or by another one to the same host.
    await retry((await ofGone())[0]?.id ?? '');
    await until('it is asked', 10_000, async () => (await tries()) > before);
  });
});

describe('the SDK', () => {
  it('lists, fetches and retries deliveries', async () => {
    const caFile = path.join(path.dirname(harness.environment['TLS_CERT_FILE'] ?? ''), 'ca.pem');
    const dispatcher = new Agent({ connect: { ca: readFileSync(caFile, 'utf8') } });
    try {
      const client = new CountersignClient({
        baseUrl: harness.baseUrl,
        apiKey: harness.demo.apiKey,
        fetch: (url, request) => undiciFetch(url, { ...request, dispatcher }),
      });
      const target = await receiver(410);
      const { id } = await attemptedDelivery({ webhookUrl: target.url });
      const page = await client.listDeliveries({ status: 'failed', limit: 1 });
      expect([await client.findDelivery(id)]).toEqual(page.data);
      await client.retryDelivery(id);
      expect((await waitForDelivery(id, hasEnded)).status).toBe('succeeded');
      expect((await client.listDeliveries({ startingAfter: id })).data.every((other) => other.id < id)).toBe(true);
    } finally {
      await dispatcher.close();
    }
  });
});
