import { readFileSync } from 'node:fs';
import path from 'node:path';
import { AccountStore, type Scope } from '@countersign/accounts';
import { parseId } from '@countersign/postgres';
import { CountersignClient, verifyWebhook } from '@countersign/sdk';
import { Webhook } from 'standardwebhooks';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-desk.js';
import { type Answer, ControlPlaneRoom } from '../support/control-plane-room.js';
import { startReceiver, type Received, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const LIST = '/v1/webhooks/deliveries';

let room: ControlPlaneRoom;
let foreignKey: string;
const receivers: Receiver[] = [];

beforeAll(async () => {
  room = await ControlPlaneRoom.open();
  const accounts = new AccountStore({ keys: room.keys, newId: () => room.clock.newId() });
  foreignKey = await room.database.transaction(async (tx) => {
    const { account } = await accounts.createAccount(tx, { name: 'Other' });
    return (await accounts.createApiKey(tx, { accountId: account.id, kind: 'live', name: 'other' })).key;
  });
});
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((each) => each.close()));
  await room.database.query('UPDATE accounts SET default_webhook_url = NULL');
});
afterAll(() => room.close());

async function receiver(...statuses: number[]): Promise<Receiver> {
  const started = await startReceiver();
  started.answerWith(...statuses);
  receivers.push(started);
  return started;
}

interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly url: string;
  readonly status: string;
  readonly attempts: readonly { at: string; status: number | null; latencyMs: number; error?: string }[];
  readonly nextAttemptAt: string | null;
  readonly body: { data: Record<string, unknown> } | null;
}

const deliveryOf = ({ text }: Answer): Delivery => JSON.parse(text) as Delivery;
const listOf = ({ text }: Answer): Delivery[] => (JSON.parse(text) as { data: Delivery[] }).data;
const find = async (id: string): Promise<Delivery> => deliveryOf(await room.call(`${LIST}/${id}`));
const retry = (id: string): Promise<Answer> => room.call(`${LIST}/${id}/retry`, { method: 'POST' });
const test = (body?: unknown): Promise<Answer> =>
  room.call('/v1/webhooks/test', { method: 'POST', ...(body === undefined ? {} : { body }) });

/** The delivery once it is as wanted. */
async function settled(id: string, holds: (delivery: Delivery) => boolean): Promise<Delivery> {
  let found = await find(id);
  await until(`delivery ${id} is as expected`, 20_000, async () => {
    found = await find(id);
    return holds(found);
  });
  return found;
}

const hasEnded = ({ status }: Delivery): boolean => status !== 'pending';

/** The delivery of a session that was approved, after its first attempt. */
async function told(changes: Readonly<Record<string, unknown>>): Promise<Delivery & { sessionId: string }> {
  const sessionId = String((await room.create(changes)).json['id']);
  await room.approve(sessionId);
  let found: Delivery | undefined;
  await until('the first attempt was made', 10_000, async () => {
    const all = listOf(await room.call(LIST)) as (Delivery & { sessionId: string })[];
    found = all.find((each) => each.sessionId === sessionId && each.attempts.length > 0);
    return found !== undefined;
  });
  if (found === undefined) throw new Error('unreachable');
  return { ...found, sessionId };
}

/** The delivery is due for no attempt of its schedule while the test runs. */
const postpone = (id: string, status = 'pending'): Promise<unknown> =>
  room.database.query(
    `UPDATE deliveries SET status = $2, next_attempt_at = CASE WHEN $2 = 'pending' THEN now() + interval '1 hour' END
     WHERE id = $1`,
    [parseId('dlv', id), status],
  );

async function keyWith(scopes: readonly Scope[]): Promise<string> {
  const accounts = new AccountStore({ keys: room.keys, newId: () => room.clock.newId() });
  const accountId = parseId('acct', room.demo.accountId) ?? '';
  const made = await room.database.transaction((tx) =>
    accounts.createApiKey(tx, { accountId, kind: 'live', name: 'scoped', scopes }),
  );
  return made.key;
}

const signedBy = (secret: string, { headers, body }: Received): boolean => {
  try {
    new Webhook(secret).verify(body, {
      'webhook-id': String(headers['webhook-id']),
      'webhook-timestamp': String(headers['webhook-timestamp']),
      'webhook-signature': String(headers['webhook-signature']),
    });
    return true;
  } catch {
    return false;
  }
};

describe('GET /v1/webhooks/deliveries', () => {
  it('shows what came of every webhook, newest first, with what is secret left out', async () => {
    const target = await receiver();
    const metadata = { authEntropy: 'mine', '9': '"fallbackUri":"x"', fallbackUri: 'mine too' };
    const delivery = await told({ webhookUrl: target.url, metadata });
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
    const session = (await room.call(`/v1/verify/${sessionId}`)).json;
    expect(delivery.body?.data).toEqual({ ...session, fallbackUri: '[redacted]', authEntropy: '[redacted]' });
    const { text } = await room.call(`${LIST}/${id}`);
    expect(text).not.toContain(String(session['authEntropy']));
    expect(text).not.toContain('AUTH-ACME');
    expect(target.received[0]?.headers['webhook-id']).toBe(delivery.eventId);
  });

  it('pages, and filters by status', async () => {
    const target = await receiver(410);
    const gone = await told({ webhookUrl: target.url });
    const others = [await told({ webhookUrl: target.url }), await told({ webhookUrl: target.url })];
    const failed = listOf(await room.call(`${LIST}?status=failed&limit=100`));
    expect(failed.map(({ id }) => id)).toContain(gone.id);
    expect(failed.every(({ status }) => status === 'failed')).toBe(true);
    const first = await room.call(`${LIST}?limit=1`);
    expect([listOf(first)[0]?.id, first.json['hasMore']]).toEqual([others[1]?.id, true]);
    const next = await room.call(`${LIST}?limit=2&startingAfter=${others[1]?.id ?? ''}`);
    expect(listOf(next).map(({ id }) => id)).toEqual([others[0]?.id, gone.id]);
  });

  it.each([
    ['status', 'status=done'],
    ['limit', 'limit=0'],
    ['limit', 'limit=101'],
    ['startingAfter', 'startingAfter=dlv_1'],
    ['startingAfter', 'startingAfter=dlv_01HF7YAT000000000000000009'],
    ['from', 'from=yesterday'],
  ])('refuses a bad %s (%s)', async (field, query) => {
    const { status, code, field: named } = await room.call(`${LIST}?${query}`);
    expect([status, code, named]).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  it('shows an account its own deliveries and no other’s', async () => {
    const target = await receiver();
    const { id } = await told({ webhookUrl: target.url });
    const call = { key: foreignKey };
    expect(listOf(await room.call(LIST, call))).toEqual([]);
    const [foreign, unknown, none] = await Promise.all(
      [id, 'dlv_01HF7YAT000000000000000009', 'x'].map((each) => room.call(`${LIST}/${each}`, call)),
    );
    expect([foreign?.status, foreign?.code]).toEqual([404, 'NOT_FOUND']);
    expect([unknown?.text, none?.text]).toEqual([foreign?.text, foreign?.text]);
    const retried = await room.call(`${LIST}/${id}/retry`, { ...call, method: 'POST' });
    expect([retried.status, retried.code]).toEqual([404, 'NOT_FOUND']);
    expect((await room.call(`${LIST}?startingAfter=${id}`, call)).field).toBe('startingAfter');
  });

  it('needs the scope webhooks', async () => {
    const key = await keyWith(['verify', 'otp', 'usage', 'realtime']);
    const calls = [LIST, `${LIST}/dlv_01HF7YAT000000000000000009`].map((target) => room.call(target, { key }));
    const posts = ['deliveries/x/retry', 'test', 'secret/rotate'].map((name) =>
      room.call(`/v1/webhooks/${name}`, { key, method: 'POST' }),
    );
    for (const { status, code } of await Promise.all([...calls, ...posts])) {
      expect([status, code]).toEqual([403, 'FORBIDDEN']);
    }
  });
});

describe('POST /v1/webhooks/deliveries/{id}/retry', () => {
  it('posts the same bytes under the same id once more', async () => {
    const target = await receiver();
    const { id, eventId } = await told({ webhookUrl: target.url });
    const answer = await retry(id);
    expect(answer.status).toBe(202);
    expect(deliveryOf(answer)).toMatchObject({ id, eventId, status: 'pending' });
    await settled(id, ({ status, attempts }) => status === 'succeeded' && attempts.length === 2);
    const [first, second] = target.received;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  });

  it('leaves the schedule of a pending one where it was', async () => {
    const target = await receiver(500, 500, 500);
    const { id } = await told({ webhookUrl: target.url });
    await postpone(id);
    const before = await find(id);
    await retry(id);
    const after = await settled(id, ({ attempts }) => attempts.length === 2);
    expect([after.status, after.nextAttemptAt]).toEqual(['pending', before.nextAttemptAt]);
    const [row] = await room.database.query<{ made: number }>(
      'SELECT jsonb_array_length(attempts) - attempts_before AS made FROM deliveries WHERE id = $1',
      [parseId('dlv', id)],
    );
    expect(row?.made).toBe(1);
  });

  it('tries one that has ended a single time', async () => {
    const target = await receiver(410, 500);
    const { id, status } = await told({ webhookUrl: target.url });
    expect(status).toBe('failed');
    await retry(id);
    const after = await settled(id, ({ attempts }) => attempts.length === 2);
    expect([after.status, after.nextAttemptAt, after.attempts[1]?.status]).toEqual(['failed', null, 500]);
    await retry(id);
    expect((await settled(id, ({ attempts }) => attempts.length === 3)).status).toBe('succeeded');
  });

  it('judges a blocked one anew', async () => {
    const target = await receiver();
    const { id } = await told({ webhookUrl: target.url });
    await postpone(id, 'blocked');
    await retry(id);
    expect((await settled(id, hasEnded)).status).toBe('succeeded');
  });

  it('finds one that is older than any schedule at once, though its body was forgotten', async () => {
    const target = await receiver();
    const { id } = await told({ webhookUrl: target.url });
    await room.database.query('UPDATE deliveries SET body_sealed = NULL WHERE id = $1', [parseId('dlv', id)]);
    expect((await find(id)).body).toBeNull();
    await retry(id);
    await settled(id, ({ status, attempts }) => status === 'succeeded' && attempts.length === 2);
    expect(target.received[1]?.body).toBe(target.received[0]?.body);
  });

  it('asked for many times at once is one attempt at a time', async () => {
    const target = await receiver(500, 500, 500);
    const { id } = await told({ webhookUrl: target.url });
    await postpone(id);
    await room.database.query(`UPDATE queue_switches SET paused_at = now() WHERE name = 'webhooks'`);
    await Promise.all(Array.from({ length: 8 }, () => retry(id)));
    await room.database.query(`UPDATE queue_switches SET paused_at = NULL WHERE name = 'webhooks'`);
    expect((await settled(id, ({ attempts }) => attempts.length === 2)).status).toBe('pending');
    expect(target.received).toHaveLength(2);
  });
});

describe('POST /v1/webhooks/test', () => {
  it('goes the way of every other event, to the URL that is named', async () => {
    const target = await receiver();
    const answer = await test({ url: target.url });
    expect(answer.status).toBe(202);
    const made = deliveryOf(answer);
    expect(made).toMatchObject({ type: 'webhook.test', sessionId: null, url: target.url, status: 'pending' });
    await settled(made.id, ({ status }) => status === 'succeeded');
    const [posted] = target.received;
    if (posted === undefined) throw new Error('unreachable');
    expect(signedBy(room.demo.webhookSecret, posted)).toBe(true);
    expect(JSON.parse(posted.body)).toEqual({
      type: 'webhook.test',
      timestamp: expect.any(String) as string,
      data: { accountId: room.demo.accountId },
    });
    expect((await find(made.id)).body).toEqual(JSON.parse(posted.body));
    expect((await room.documented()).eventFaults(posted)).toEqual([]);
  });

  it('goes to the default URL when none is named, with no body and with an empty one', async () => {
    const target = await receiver();
    await room.database.query('UPDATE accounts SET default_webhook_url = $1', [target.url]);
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

  it('of a name that leads to nowhere public ends as blocked, like a delivery', async () => {
    const strict = await ControlPlaneRoom.open({ WEBHOOK_ALLOWED_CIDRS: '', WEBHOOK_ALLOW_HTTP: 'false' });
    try {
      const answer = await strict.call('/v1/webhooks/test', { method: 'POST', body: { url: 'https://localhost:1/' } });
      const { id } = deliveryOf(answer);
      const status = async (): Promise<unknown> => (await strict.call(`${LIST}/${id}`)).json['status'];
      await expect.poll(status, { timeout: 10_000 }).toBe('blocked');
    } finally {
      await strict.close();
    }
  });
});

describe('POST /v1/webhooks/secret/rotate', () => {
  it('tells a new secret once, and both sign for a day', async () => {
    const before = room.demo.webhookSecret;
    const calledMs = room.clock.nowMs();
    const answer = await room.call('/v1/webhooks/secret/rotate', { method: 'POST' });
    expect(answer.status).toBe(200);
    const { secret, previousValidUntil } = answer.json;
    expect(Math.abs(Date.parse(String(previousValidUntil)) - calledMs - 24 * 3_600_000)).toBeLessThan(5_000);
    const target = await receiver();
    /** Another process may know the secrets for some seconds still. */
    const latest = async (holds: (posted: Received) => boolean): Promise<Received> => {
      let posted: Received | undefined;
      await until('the secrets are read anew', 10_000, async () => {
        const { id } = deliveryOf(await test({ url: target.url }));
        await settled(id, hasEnded);
        posted = target.received.at(-1);
        return posted !== undefined && holds(posted);
      });
      if (posted === undefined) throw new Error('unreachable');
      return posted;
    };
    const both = await latest((posted) => signedBy(String(secret), posted));
    expect(signedBy(before, both)).toBe(true);
    expect(String(both.headers['webhook-signature'])).toMatch(/^v1,\S+ v1,\S+$/);
    expect(await verifyWebhook(both.body, both.headers, before)).toMatchObject({ type: 'webhook.test' });
    await room.database.query(
      `UPDATE accounts SET previous_webhook_secret_until = now() - interval '1 second'
       WHERE previous_webhook_secret_until IS NOT NULL`,
    );
    const one = await latest((posted) => !signedBy(before, posted));
    expect(signedBy(String(secret), one)).toBe(true);
    expect(String(one.headers['webhook-signature'])).toMatch(/^v1,\S+$/);
    expect(JSON.stringify(room.log)).not.toContain('whsec_');
  });
});

describe('a default URL', () => {
  it('of which nothing but failure came for five days is given up, until it is set again', async () => {
    const admin = new AdminCalls(room);
    const dead = 'http://127.0.0.1:1/hook';
    const path = `accounts/${room.demo.accountId}`;
    expect((await admin.patch(path, { defaultWebhookUrl: dead })).json).not.toHaveProperty('defaultWebhookDisabledAt');
    await room.database.query(
      `UPDATE accounts SET default_webhook_failing_since = now() - interval '5 days 1 hour' WHERE id = $1`,
      [parseId('acct', room.demo.accountId)],
    );
    await told({});
    await until('it was given up', 10_000, async () => 'defaultWebhookDisabledAt' in (await admin.get(path)).json);
    const { json } = await admin.get(path);
    const reason = json['defaultWebhookDisabledReason'];
    expect([json['defaultWebhookUrl'], reason]).toEqual([
      dead,
      expect.stringMatching(/^Nothing but failure in 5 days/),
    ]);
    const event = async (): Promise<unknown> =>
      (
        await room.database.query(
          `SELECT data, dispatched_at IS NOT NULL AS taken FROM events WHERE type = 'webhook.disabled'`,
        )
      )[0];
    const data = { accountId: room.demo.accountId, url: dead, reason };
    await expect.poll(event, { timeout: 5_000 }).toEqual({ data, taken: true });
    const notes = await admin.notes(room.demo.accountId);
    expect(notes.at(-1)).toMatchObject({ actor: 'system', action: 'disable-webhook', requestId: null });
    expect((await admin.get('audit')).status).toBe(200);
    expect((await admin.patch(path, { name: 'Acme' })).json).toHaveProperty('defaultWebhookDisabledAt');
    const again = await admin.patch(path, { defaultWebhookUrl: dead });
    expect([again.json['defaultWebhookUrl'], again.json]).toEqual([
      dead,
      expect.not.objectContaining({ defaultWebhookDisabledAt: expect.anything() as unknown }),
    ]);
  });
});

describe('a receiver that does not answer', () => {
  it('is left alone after a few attempts, and slows no other', async () => {
    const gone = await startReceiver();
    await gone.close();
    for (let count = 0; count < 15; count++) {
      await room.approve(String((await room.create({ webhookUrl: gone.url })).json['id']));
    }
    const ofGone = async (): Promise<Delivery[]> =>
      listOf(await room.call(`${LIST}?limit=100`)).filter(({ url }) => url === gone.url);
    const tries = async (): Promise<number> => (await ofGone()).flatMap(({ attempts }) => attempts).length;
    const [well, startedMs] = [await receiver(), performance.now()];
    await test({ url: well.url });
    await until('the other one was told', 5_000, () => well.received.length === 1);
    expect((well.received[0]?.atMs ?? 0) - startedMs).toBeLessThan(1_500);
    const metrics = async (): Promise<string> => (await fetch(`${room.opsUrl}/metrics`)).text();
    await until('it is left alone', 10_000, async () => /webhook_hosts_broken(\{[^}]*\})? [1-9]/.test(await metrics()));
    const before = await tries();
    expect(before).toBeLessThanOrEqual(10);
    // Asked at once, by this delivery or by another that waits for the same host.
    await retry((await ofGone())[0]?.id ?? '');
    await until('it is asked', 10_000, async () => (await tries()) > before);
  });
});

describe('the SDK', () => {
  it('lists, fetches and retries deliveries', async () => {
    const caFile = path.join(path.dirname(room.environment['TLS_CERT_FILE'] ?? ''), 'ca.pem');
    const dispatcher = new Agent({ connect: { ca: readFileSync(caFile, 'utf8') } });
    try {
      const client = new CountersignClient({
        baseUrl: room.baseUrl,
        apiKey: room.demo.apiKey,
        fetch: (url, request) => undiciFetch(url, { ...request, dispatcher }),
      });
      const target = await receiver(410);
      const { id } = await told({ webhookUrl: target.url });
      const page = await client.listDeliveries({ status: 'failed', limit: 1 });
      expect([await client.findDelivery(id)]).toEqual(page.data);
      await client.retryDelivery(id);
      expect((await settled(id, hasEnded)).status).toBe('succeeded');
      expect((await client.listDeliveries({ startingAfter: id })).data.every((other) => other.id < id)).toBe(true);
    } finally {
      await dispatcher.close();
    }
  });
});
