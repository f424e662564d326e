import { MODES, type Mode } from '@countersign/keys';
import { runStatements } from '@countersign/postgres/statements';
import { parseId } from '@countersign/ids';
import { deriveToken } from '@countersign/session/tokens';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness, PHONE, type Answer, type Call } from '../support/control-plane-harness.js';
import { RealtimeClient } from '../support/realtime-client.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { signedBy } from '../support/webhook-calls.js';

/** Keys of one mode against sessions, deliveries, channels, counts and secrets of the other (contract, Authentication). */

const WITHIN_MS = 8_000;
const UNKNOWN_SESSION = 'sess_00000000000000000000000000';
const UNKNOWN_DELIVERY = 'dlv_00000000000000000000000000';

let harness: ControlPlaneHarness;
let admin: AdminCalls;
/** The default webhook URLs of the account. */
let receivers: Readonly<Record<Mode, Receiver>>;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  receivers = { live: await startReceiver(), test: await startReceiver() };
  const { status } = await admin.patch(`accounts/${harness.demo.accountId}`, {
    defaultWebhookUrl: receivers.live.url,
    testWebhookUrl: receivers.test.url,
    webhookEvents: ['verification.cancelled', 'verification.denied', 'verification.expired'],
  });
  expect(status).toBe(200);
});
afterAll(async () => {
  await harness.close();
  await Promise.all(Object.values(receivers).map((each) => each.close()));
});

const other = (mode: Mode): Mode => (mode === 'live' ? 'test' : 'live');
const keyOf = (mode: Mode): string => (mode === 'live' ? harness.demo.apiKey : harness.demo.testApiKey);
const secretOf = (mode: Mode): string =>
  mode === 'live' ? harness.demo.webhookSecret : harness.demo.testWebhookSecret;

const created = async (mode: Mode, changes: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  String((await harness.create(changes, { key: keyOf(mode) })).json['id']);

async function approved(mode: Mode): Promise<string> {
  const id = await created(mode);
  await harness.approve(id);
  return id;
}

async function cancelled(mode: Mode): Promise<string> {
  const id = await created(mode);
  expect((await harness.call(`/v1/verify/${id}`, { method: 'DELETE', key: keyOf(mode) })).status).toBe(204);
  return id;
}

/** The delivery of a session's end to the default URL of its mode, once it has succeeded. */
async function deliveredFor(mode: Mode, sessionId: string): Promise<string> {
  const found = async (): Promise<Record<string, unknown> | undefined> => {
    const { json } = await harness.call('/v1/webhooks/deliveries?status=succeeded', { key: keyOf(mode) });
    return (json['data'] as Record<string, unknown>[]).find((each) => each['sessionId'] === sessionId);
  };
  await until(`the webhook of ${sessionId} is delivered`, WITHIN_MS, async () => (await found()) !== undefined);
  return String((await found())?.['id']);
}

/** The parts of an answer that a caller can compare. */
function seen({ status, text, headers }: Answer): object {
  const { date: _, 'x-request-id': __, ...rest } = headers;
  const steady = Object.entries(rest).filter(([name]) => !/ratelimit|retry-after/i.test(name));
  return { status, text, headers: Object.fromEntries(steady) };
}

const idsOf = ({ json }: Answer): unknown[] => (json['data'] as { id: unknown }[]).map(({ id }) => id);

const sessionRow = (id: string): Promise<object[]> =>
  harness.database.query('SELECT sessions.*, metadata::text AS metadata FROM sessions WHERE id = $1', [
    parseId('sess', id),
  ]);

const deliveryRow = (id: string): Promise<object[]> =>
  harness.database.query('SELECT * FROM deliveries WHERE id = $1', [parseId('dlv', id)]);

interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
}

/** Every call with an account's key, from the API description; those of `/v1/account` are in mode-isolation-account.spec.ts. */
async function keyedRoutes(): Promise<Route[]> {
  const { json } = await harness.call('/v1/openapi.json', { key: null });
  const paths = json['paths'] as Record<string, Record<string, { security?: readonly object[] }>>;
  return Object.entries(paths).flatMap(([path, operations]) => {
    if (!path.startsWith('/v1/') || /^\/v1\/(?:admin|account)(?:\/|$)/.test(path)) return [];
    const methods = (['GET', 'POST', 'DELETE'] as const).filter((method) => {
      const operation = operations[method.toLowerCase()];
      return operation !== undefined && (operation.security ?? []).length > 0;
    });
    return methods.map((method) => ({ method, path }));
  });
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;

/** The expected answer to a key of the other mode, by route; a route that is missing here fails the test. */
const WALK: Readonly<Record<string, (owner: Mode, route: Route) => Promise<void>>> = {
  'GET /v1/verify/{sessionId}': sessionIsUnknown,
  'DELETE /v1/verify/{sessionId}': sessionIsUnknown,
  'POST /v1/verify/{sessionId}/send-sms': sessionIsUnknown,
  'POST /v1/verify/{sessionId}/check': sessionIsUnknown,
  'POST /v1/verify/{sessionId}/consume': sessionIsUnknown,
  'POST /v1/verify/{sessionId}/realtime-ticket': sessionIsUnknown,
  'GET /v1/webhooks/deliveries/{deliveryId}': deliveryIsUnknown,
  'POST /v1/webhooks/deliveries/{deliveryId}/retry': deliveryIsUnknown,
  'POST /v1/verify': createsApart,
  'GET /v1/verify': listsApart,
  'GET /v1/usage': countsApart,
  'GET /v1/webhooks/deliveries': listsDeliveriesApart,
  'POST /v1/webhooks/test': testsApart,
  'POST /v1/webhooks/secret/rotate': rotatesApart,
};

async function sessionIsUnknown(owner: Mode, { method, path }: Route): Promise<void> {
  const call: Call = {
    method,
    key: keyOf(other(owner)),
    ...(path.endsWith('/check') ? { body: { code: '424242' } } : {}),
  };
  for (const make of [created, approved, cancelled]) {
    const id = await make(owner);
    const before = await sessionRow(id);
    const foreign = await harness.call(path.replace('{sessionId}', id), call);
    const unknown = await harness.call(path.replace('{sessionId}', UNKNOWN_SESSION), call);
    expect(foreign).toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
    expect(seen(foreign)).toEqual(seen(unknown));
    expect(await sessionRow(id)).toEqual(before);
  }
}

async function deliveryIsUnknown(owner: Mode, { method, path }: Route): Promise<void> {
  const id = await deliveredFor(owner, await cancelled(owner));
  const before = await deliveryRow(id);
  const call = { method, key: keyOf(other(owner)) };
  const foreign = await harness.call(path.replace('{deliveryId}', id), call);
  expect(foreign).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  expect(seen(foreign)).toEqual(seen(await harness.call(path.replace('{deliveryId}', UNKNOWN_DELIVERY), call)));
  expect(await deliveryRow(id)).toEqual(before);
}

/** The same Idempotency-Key in both modes is two different keys. */
async function createsApart(owner: Mode): Promise<void> {
  const headers = { 'idempotency-key': `both-modes-${owner}` };
  const one = await harness.create({}, { headers, key: keyOf(owner) });
  const two = await harness.create({}, { headers, key: keyOf(other(owner)) });
  expect([one.status, two.status]).toEqual([200, 200]);
  expect(two.headers['idempotent-replayed']).toBeUndefined();
  expect(two.json['id']).not.toBe(one.json['id']);
  expect((owner === 'test' ? one : two).json['test']).toBe(true);
  expect((owner === 'test' ? two : one).json).not.toHaveProperty('test');
}

async function listsApart(owner: Mode): Promise<void> {
  const ids = [await created(owner), await approved(owner), await cancelled(owner)];
  for (const query of [
    '',
    '?status=pending',
    '?status=approved',
    '?status=cancelled',
    `?phone=${encodeURIComponent(PHONE)}`,
  ]) {
    const limited = `/v1/verify${query}${query === '' ? '?' : '&'}limit=100`;
    const theirs = idsOf(await harness.call(limited, { key: keyOf(other(owner)) }));
    expect(theirs.filter((id) => ids.includes(String(id)))).toEqual([]);
  }
  const own = await harness.call('/v1/verify?limit=100', { key: keyOf(owner) });
  expect(idsOf(own)).toEqual(expect.arrayContaining(ids));
  const marks = (own.json['data'] as object[]).map((session) => 'test' in session);
  expect(new Set(marks)).toEqual(new Set([owner === 'test']));
  const behind = await harness.call(`/v1/verify?startingAfter=${ids[0] ?? ''}`, { key: keyOf(other(owner)) });
  expect(behind).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', field: 'startingAfter' });
}

async function countsApart(owner: Mode): Promise<void> {
  const usage = async (mode: Mode): Promise<object> =>
    (await harness.call('/v1/usage?groupBy=brand', { key: keyOf(mode) })).json;
  const total = async (): Promise<number> =>
    ((await usage(owner)) as { verifications: { total: number } }).verifications.total;
  const [ownBefore, theirsBefore] = [await total(), await usage(other(owner))];
  await approved(owner);
  await created(owner);
  expect(await total()).toBe(ownBefore + 2);
  const { period: _, ...theirs } = (await usage(other(owner))) as Record<string, unknown>;
  expect(theirsBefore).toMatchObject(theirs);
}

async function listsDeliveriesApart(owner: Mode): Promise<void> {
  const id = await deliveredFor(owner, await cancelled(owner));
  for (const query of ['', '&status=succeeded']) {
    const target = `/v1/webhooks/deliveries?limit=100${query}`;
    expect(idsOf(await harness.call(target, { key: keyOf(owner) }))).toContain(id);
    expect(idsOf(await harness.call(target, { key: keyOf(other(owner)) }))).not.toContain(id);
  }
  const behind = await harness.call(`/v1/webhooks/deliveries?startingAfter=${id}`, { key: keyOf(other(owner)) });
  expect(behind).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', field: 'startingAfter' });
}

/** Without a URL a webhook goes to the default of the key's own mode, signed with only the secret of that mode. */
async function testsApart(owner: Mode): Promise<void> {
  const { json } = await harness.call('/v1/webhooks/test', { method: 'POST', key: keyOf(owner) });
  const eventId = String(json['eventId']);
  const posted = () => receivers[owner].received.find(({ headers }) => headers['webhook-id'] === eventId);
  await until('the test webhook arrives', WITHIN_MS, () => posted() !== undefined);
  const webhook = posted();
  if (webhook === undefined) throw new Error('the webhook arrived before');
  expect(signedBy(secretOf(owner), webhook)).toBe(true);
  expect(signedBy(secretOf(other(owner)), webhook)).toBe(false);
  const elsewhere = receivers[other(owner)].received.map(({ headers }) => headers['webhook-id']);
  expect(elsewhere).not.toContain(eventId);
}

const secretColumns = (mode: Mode): Promise<object[]> =>
  harness.database.query(
    mode === 'live'
      ? 'SELECT webhook_secret_sealed, previous_webhook_secrets_sealed FROM accounts'
      : 'SELECT test_webhook_secret_sealed, previous_test_webhook_secrets_sealed FROM accounts',
  );

async function rotatesApart(owner: Mode): Promise<void> {
  const [own, theirs] = [await secretColumns(owner), await secretColumns(other(owner))];
  const { status } = await harness.call('/v1/webhooks/secret/rotate', { method: 'POST', key: keyOf(owner) });
  expect(status).toBe(200);
  expect(await secretColumns(owner)).not.toEqual(own);
  expect(await secretColumns(other(owner))).toEqual(theirs);
}

describe('a key of the other mode', () => {
  it('is tried on every route that takes a key', async () => {
    const names = (await keyedRoutes()).map(nameOf).sort();
    expect(names).toEqual(Object.keys(WALK).sort());
  });

  describe.each(MODES)('than %s', (owner) => {
    it.each(Object.keys(WALK))('%s', { timeout: 60_000 }, async (name) => {
      const route = (await keyedRoutes()).find((each) => nameOf(each) === name);
      if (route === undefined) throw new Error(`${name} is not a route`);
      await WALK[name]?.(owner, route);
    });
  });
});

describe.each(MODES)('a live channel of the other mode than %s', (owner) => {
  const connected = async (mode: Mode, run: (client: RealtimeClient) => Promise<void>): Promise<void> => {
    const client = await RealtimeClient.open(harness, { key: keyOf(mode) });
    try {
      await run(client);
    } finally {
      client.close();
    }
  };

  it('answers for a session as for an unknown id', async () => {
    await connected(other(owner), async (client) => {
      const unknown = await client.subscribe(`session:${UNKNOWN_SESSION}`);
      const foreign = await client.subscribe(`session:${await created(owner)}`);
      expect(foreign.error).toMatchObject({ code: 'SESSION_NOT_FOUND' });
      expect(foreign.error).toEqual(unknown.error);
    });
  });

  it('receives the events of its own mode on the account channel, and no others', async () => {
    const channel = `account:${harness.demo.accountId}`;
    await connected(owner, async (own) => {
      await own.subscribe(channel);
      await connected(other(owner), async (foreign) => {
        await foreign.subscribe(channel);
        const mine = await cancelled(owner);
        expect((await own.event('verification.cancelled')).data).toMatchObject({ id: mine });
        const theirs = await cancelled(other(owner));
        expect((await foreign.event('verification.cancelled')).data).toMatchObject({ id: theirs });
        await foreign.ask({ type: 'ping', id: 'p' });
        expect(foreign.events().map(({ data }) => data?.['id'])).toEqual([theirs]);
      });
    });
  });
});

describe('a test session', () => {
  it('with an event row of an earlier release (no test flag) is sent to test keys only', async () => {
    const id = await created('test');
    const clients = {
      live: await RealtimeClient.open(harness),
      test: await RealtimeClient.open(harness, { key: keyOf('test') }),
    };
    for (const client of Object.values(clients)) await client.subscribe(`account:${harness.demo.accountId}`);
    await harness.database.query(
      `WITH ended AS (
         UPDATE sessions SET status = 'cancelled', ended_at = date_trunc('milliseconds', clock_timestamp()) WHERE id = $2
         RETURNING id, account_id, ended_at
       )
       INSERT INTO events (id, type, account_id, session_id, occurred_at, data)
       SELECT $1, 'verification.cancelled', account_id, id, ended_at, '{}' FROM ended`,
      [harness.clock.newId(), parseId('sess', id)],
    );
    expect((await clients.test.event('verification.cancelled')).data).toMatchObject({ id });
    await clients.live.ask({ type: 'ping', id: 'p' });
    expect(clients.live.events()).toEqual([]);
    for (const client of Object.values(clients)) client.close();
  });

  it('says that it is one wherever it appears; a live one has no such field', async () => {
    for (const mode of MODES) {
      const marked = (value: unknown): boolean => (value as { test?: unknown }).test === true;
      const key = keyOf(mode);
      const answer = await harness.create({}, { key });
      const id = String(answer.json['id']);
      const shown: unknown[] = [answer.json, (await harness.call(`/v1/verify/${id}`, { key })).json];
      const client = await RealtimeClient.open(harness, { key });
      shown.push((await client.subscribe(`session:${id}`)).snapshot);
      const { json } = await harness.call(`/v1/verify/${id}/realtime-ticket`, { method: 'POST', key });
      const page = await RealtimeClient.open(harness, { key: null });
      await page.ask({ type: 'auth', id: 'a', ticket: json['ticket'] });
      shown.push((await page.subscribe(`session:${id}`)).snapshot);
      await harness.approve(id);
      shown.push(
        (await client.event('verification.completed')).data,
        (await page.event('verification.completed')).data,
      );
      const delivery = await deliveredFor(mode, id);
      const body = (await harness.call(`/v1/webhooks/deliveries/${delivery}`, { key })).json['body'];
      shown.push((body as { data: unknown }).data);
      const posted = receivers[mode].received.find((each) => each.body.includes(id));
      shown.push((JSON.parse(posted?.body ?? '{}') as { data: unknown }).data);
      shown.push((await harness.call(`/v1/verify/${id}/consume`, { method: 'POST', key })).json);
      shown.push((await admin.get(`sessions/${id}`)).json);
      expect(shown.map(marked)).toEqual(shown.map(() => mode === 'test'));
      if (mode === 'live') for (const each of shown) expect(each).not.toHaveProperty('test');
      client.close();
      page.close();
    }
  });

  it('is not approved by an SMS that came from a carrier, nor by a tap on a card', async () => {
    const id = await created('test');
    const sessionId = parseId('sess', id) ?? '';
    const token = { slug: harness.demo.brandSlug, token: deriveToken(harness.keys, sessionId) };
    const evidence = { tokens: [token], senders: [PHONE], trusted: true };
    const { verdicts } = await harness.database.transaction(async (tx) => {
      await runStatements(tx, harness.sessions.markRcsDelivered([sessionId]));
      await harness.sessions.applyCardDecision(tx, {
        mode: 'live',
        trigger: 'approve',
        approvedBy: 'rcs',
        ids: [sessionId],
      });
      await harness.sessions.applyCardDecision(tx, {
        mode: 'live',
        trigger: 'deny',
        approvedBy: null,
        ids: [sessionId],
      });
      return harness.sessions.matchInbound(tx, 'live', [evidence]);
    });
    expect(verdicts).toEqual([{ fate: 'unknown_token', sessionId: null, accountId: null }]);
    const { json } = await harness.call(`/v1/verify/${id}`, { key: keyOf('test') });
    expect(json).toMatchObject({ status: 'pending', channel: 'sms_fallback' });
  });

  it('never yields the authEntropy of a live one for the same phone', async () => {
    const entropies = await Promise.all(
      MODES.map(async (mode) => (await harness.call(`/v1/verify/${await approved(mode)}`, { key: keyOf(mode) })).json),
    );
    expect(new Set(entropies.map(({ authEntropy }) => authEntropy)).size).toBe(2);
  });

  it('goes to its own webhook URL, else to the test URL, signed with the test secret', async () => {
    const secret = String(
      (await harness.call('/v1/webhooks/secret/rotate', { method: 'POST', key: keyOf('test') })).json['secret'],
    );
    const own = await startReceiver();
    const ids = [await created('test', { webhookUrl: own.url }), await created('test')];
    for (const id of ids) await harness.approve(id);
    for (const [at, target] of [own, receivers.test].entries()) {
      const posted = () => target.received.find(({ body }) => body.includes(ids[at] ?? ''));
      await until('the webhook arrives', WITHIN_MS, () => posted() !== undefined);
      const webhook = posted();
      if (webhook === undefined) throw new Error('the webhook arrived before');
      expect(signedBy(secret, webhook)).toBe(true);
      expect(signedBy(harness.demo.webhookSecret, webhook)).toBe(false);
    }
    expect(receivers.live.received.filter(({ body }) => ids.some((id) => body.includes(id)))).toEqual([]);
    await own.close();
  });

  it('has no webhook where neither it nor the account names a test URL, and webhooks/test then wants one', async () => {
    expect((await admin.patch(`accounts/${harness.demo.accountId}`, { testWebhookUrl: null })).status).toBe(200);
    const sibling = await harness.neighbour();
    const call = { method: 'POST', key: keyOf('test'), baseUrl: sibling.baseUrl } as const;
    const answer = await harness.call('/v1/webhooks/test', call);
    expect(answer).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', field: 'url' });
    await sibling.stop();
    const id = await created('test');
    await harness.approve(id);
    const deliveries = await harness.database.query('SELECT 1 FROM deliveries WHERE session_id = $1', [
      parseId('sess', id),
    ]);
    expect(deliveries).toEqual([]);
    await admin.patch(`accounts/${harness.demo.accountId}`, { testWebhookUrl: receivers.test.url });
  });
});

describe('engineers', () => {
  it('list what is live, what test keys made, or both', async () => {
    const [live, test] = [await approved('live'), await approved('test')];
    for (const [query, expected] of [
      ['test=true', [test]],
      ['test=false', [live]],
      ['limit=100', [test, live]],
    ] as const) {
      const ids = idsOf(await admin.get(`sessions?${query}`));
      expect(ids.filter((id) => id === live || id === test)).toEqual(expected);
    }
    expect(await admin.get('sessions?test=maybe')).toMatchObject({ status: 422, field: 'test' });
    await harness.call(`/v1/verify/${await created('test')}/send-sms`, { method: 'POST', key: keyOf('test') });
    const messages = async (query: string): Promise<unknown[]> =>
      (await admin.get(`messages?direction=out&${query}`)).json['data'] as unknown[];
    expect(await messages('test=true')).toEqual([expect.objectContaining({ test: true, direction: 'out' })]);
    expect(await messages('test=false')).toEqual([]);
  });
});
