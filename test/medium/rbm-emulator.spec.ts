import { createHmac, createSign, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRbmEmulator, type RbmEmulator } from '../support/rbm-emulator.js';
import { RbmWebhook } from '../support/rbm-webhook.js';
import { until } from '../support/until.js';

const SOON_MS = 10_000;
const AGENT = 'acme_verify';
const PHONE = '+14155552671';
const SCOPE = 'https://www.googleapis.com/auth/rcsbusinessmessaging';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

let harness: RbmEmulator;
let webhook: RbmWebhook;
let token: string;

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The assertion of the harness's account, with changes. */
function assertion(claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}): string {
  const account = JSON.parse(readFileSync(harness.serviceAccountFile, 'utf8')) as Record<string, string>;
  const iat = Math.floor(Date.now() / 1000);
  const payload = {
    iss: account['client_email'],
    scope: SCOPE,
    aud: account['token_uri'],
    iat,
    exp: iat + 3600,
    ...claims,
  };
  const signed = `${encoded({ alg: 'RS256', typ: 'JWT', kid: account['private_key_id'], ...header })}.${encoded(payload)}`;
  return `${signed}.${createSign('RSA-SHA256')
    .update(signed)
    .sign(account['private_key'] ?? '', 'base64url')}`;
}

async function exchange(jwt: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const { statusCode, body } = await request(`${harness.url}/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: GRANT, assertion: jwt }).toString(),
  });
  return { status: statusCode, body: (await body.json()) as Record<string, unknown> };
}

async function call(method: 'GET' | 'POST' | 'DELETE', pathname: string, body?: unknown, bearer = token) {
  const answer = await request(`${harness.url}${pathname}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
}

const card = (changes: object = {}): object => ({
  contentMessage: {
    richCard: {
      standaloneCard: {
        cardOrientation: 'VERTICAL',
        cardContent: {
          title: 'Sign in to Acme?',
          suggestions: [
            { reply: { text: 'Approve', postbackData: 'v1.a' } },
            { reply: { text: 'Deny', postbackData: 'v1.d' } },
          ],
        },
      },
    },
  },
  messageTrafficType: 'AUTHENTICATION',
  expireTime: new Date(Date.now() + 60_000).toISOString(),
  ...changes,
});

async function send(phone: string, body: object = card(), messageId: string = randomUUID()) {
  const answer = await call('POST', `/v1/phones/${phone}/agentMessages?messageId=${messageId}&agentId=${AGENT}`, body);
  return { ...answer, messageId };
}

const revoke = (phone: string, messageId: string) =>
  call('DELETE', `/v1/phones/${phone}/agentMessages/${messageId}?agentId=${AGENT}`);
const setPhone = (phone: string, profile: object) => harness.admin('PUT', `/_admin/phones/${phone}`, profile);
const tap = (messageId: string, suggestion: number) =>
  harness.admin('POST', `/_admin/cards/${messageId}/tap`, { suggestion });
const eventsReceived = (count: number) => until(`${count} events`, SOON_MS, () => webhook.events.length >= count);
const stateOf = async (messageId: string): Promise<unknown> => {
  const { data } = (await harness.admin('GET', '/_admin/cards')).body as { data: Record<string, unknown>[] };
  return data.find((message) => message['messageId'] === messageId)?.['state'];
};

beforeEach(async () => {
  webhook = new RbmWebhook();
  harness = await openRbmEmulator({ webhookUrl: await webhook.listen() });
  token = String((await exchange(assertion())).body['access_token']);
});

afterEach(async () => {
  await harness.close();
  await webhook.close();
});

describe('a token', () => {
  it('is granted for a signed assertion of the service account', async () => {
    const { status, body } = await exchange(assertion());
    expect(status).toBe(200);
    expect(body).toMatchObject({ expires_in: 3599, token_type: 'Bearer' });
  });

  it.each([
    ['another audience', { aud: 'https://oauth2.googleapis.com/token' }, {}],
    ['another issuer', { iss: 'somebody@else' }, {}],
    ['another scope', { scope: 'https://www.googleapis.com/auth/businesscommunications' }, {}],
    ['an expired time', { iat: 1, exp: 3601 }, {}],
    ['a lifetime of two hours', { exp: Math.floor(Date.now() / 1000) + 7300 }, {}],
    ['no signature', {}, { alg: 'none' }],
    ['another key', {}, { kid: 'other' }],
  ])('is refused for %s', async (_, claims, header) => {
    expect(await exchange(assertion(claims, header))).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it.each(['', 'x', 'a.b', 'a.b.c', '..', 'é.é.é'])('is refused for %j', async (jwt) => {
    expect((await exchange(jwt)).status).toBe(400);
  });

  it('is required by every call, and can be dropped', async () => {
    await setPhone(PHONE, { reachable: true });
    expect(await call('GET', `/v1/phones/${PHONE}/capabilities?agentId=${AGENT}`, undefined, 'other')).toMatchObject({
      status: 401,
      body: { error: { code: 401, status: 'UNAUTHENTICATED' } },
    });
    await harness.admin('PUT', '/_admin/rbm', { dropTokens: true });
    expect((await send(PHONE)).status).toBe(401);
  });
});

describe('a send', () => {
  it('to an online phone is answered with the message, delivered, and reported by an event', async () => {
    await setPhone(PHONE, { reachable: true, online: true, deliverAfterMs: 0 });
    const { status, body, messageId } = await send(PHONE);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: `phones/${PHONE}/agentMessages/${messageId}`,
      messageTrafficType: 'AUTHENTICATION',
      sendTime: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
    await eventsReceived(1);
    expect(webhook.events[0]).toMatchObject({
      senderPhoneNumber: PHONE,
      eventType: 'DELIVERED',
      messageId,
      agentId: `${AGENT}@rbm.goog`,
    });
  });

  it.each([
    ['a phone without RCS', PHONE, 404, 'NOT_FOUND'],
    ['…0404', '+14155550404', 404, 'NOT_FOUND'],
    ['…0429', '+14155550429', 429, 'RESOURCE_EXHAUSTED'],
    ['…0503', '+14155550503', 503, 'UNAVAILABLE'],
  ])('to %s is refused', async (_, phone, code, status) => {
    expect(await send(phone)).toMatchObject({ status: code, body: { error: { code, status } } });
  });

  it('accepts the number with a plain or escaped plus, and the agent with its domain', async () => {
    await setPhone(PHONE, { reachable: true });
    const path = `/v1/phones/${encodeURIComponent(PHONE)}/agentMessages?messageId=${randomUUID()}&agentId=${AGENT}%40rbm.goog`;
    expect((await call('POST', path, card())).status).toBe(200);
    const { data } = (await harness.admin('GET', `/_admin/cards?phone=${PHONE}`)).body as { data: object[] };
    expect(data).toMatchObject([{ phone: PHONE, agentId: AGENT, card: { title: 'Sign in to Acme?' } }]);
  });

  it('with a used id is the first message, or refused, and never a second message', async () => {
    await setPhone(PHONE, { reachable: true, deliverAfterMs: 0 });
    const first = await send(PHONE);
    expect((await send(PHONE, card(), first.messageId)).body['sendTime']).toBe(first.body['sendTime']);
    await harness.admin('PUT', '/_admin/rbm', { duplicateIdStatus: 409 });
    expect((await send(PHONE, card(), first.messageId)).status).toBe(409);
    expect((await harness.admin('GET', '/_admin/messages')).body['data']).toHaveLength(1);
  });

  it('for an agent that the account does not own is refused', async () => {
    await harness.admin('PUT', '/_admin/rbm', { agents: ['other@rbm.goog'] });
    expect(await send(PHONE)).toMatchObject({ status: 403, body: { error: { status: 'PERMISSION_DENIED' } } });
    await harness.admin('PUT', '/_admin/rbm', { agents: null });
    expect((await send(PHONE)).status).toBe(404);
  });

  it('without an answer is delivered all the same', async () => {
    const phone = '+14155550599';
    const path = `${harness.url}/v1/phones/${phone}/agentMessages?messageId=${randomUUID()}&agentId=${AGENT}`;
    const stop = new AbortController();
    const sent = request(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(card()),
      signal: stop.signal,
    });
    const failed = expect(sent).rejects.toThrow();
    await eventsReceived(1);
    stop.abort();
    await failed;
    expect(webhook.kinds).toEqual(['DELIVERED']);
  });
});

describe('a waiting message', () => {
  it('is delivered when its phone comes online', async () => {
    const { messageId } = await send('+14155550500');
    expect(await stateOf(messageId)).toBe('waiting');
    await setPhone('+14155550500', { online: true, deliverAfterMs: 0 });
    await eventsReceived(1);
    expect(await stateOf(messageId)).toBe('delivered');
  });

  it('is revoked, and then not delivered', async () => {
    const { messageId } = await send('+14155550500');
    expect(await revoke('+14155550500', messageId)).toEqual({ status: 200, body: {} });
    await setPhone('+14155550500', { online: true, deliverAfterMs: 0 });
    expect(await stateOf(messageId)).toBe('revoked');
    expect((await tap(messageId, 0)).status).toBe(409);
  });

  it('expires, with an event', async () => {
    const { messageId } = await send('+14155550500', card({ expireTime: undefined, ttl: '0.2s' }));
    await eventsReceived(1);
    expect(webhook.events[0]).toMatchObject({
      phoneNumber: '+14155550500',
      eventType: 'TTL_EXPIRATION_REVOKED',
      messageId,
    });
    expect(await stateOf(messageId)).toBe('expired');
  });

  it('reaches a phone that revokes reach too late', async () => {
    const { messageId } = await send('+14155550410');
    expect((await revoke('+14155550410', messageId)).status).toBe(200);
    await eventsReceived(1);
    expect(webhook.kinds).toEqual(['DELIVERED']);
    expect((await tap(messageId, 0)).status).toBe(200);
  });

  it('can be tapped there even before its revoke', async () => {
    await setPhone(PHONE, { reachable: true, online: false, deliverAnyway: true });
    const { messageId } = await send(PHONE);
    expect((await tap(messageId, 1)).status).toBe(200);
    await eventsReceived(3);
    expect([...webhook.kinds].sort()).toEqual(['DELIVERED', 'READ', 'tap']);
  });
});

describe('a revoke of a delivered message', () => {
  it.each([
    ['always200', 200],
    ['strict', 404],
  ])('is answered in the mode %s', async (revokeMode, status) => {
    await harness.admin('PUT', '/_admin/rbm', { revokeMode });
    await setPhone(PHONE, { reachable: true, deliverAfterMs: 0 });
    const { messageId } = await send(PHONE);
    await eventsReceived(1);
    expect((await revoke(PHONE, messageId)).status).toBe(status);
    expect((await revoke(PHONE, randomUUID())).status).toBe(status);
    expect(await stateOf(messageId)).toBe('delivered');
  });
});

describe('a tap', () => {
  it('sends the postback of the button, from the phone, with its own message id', async () => {
    await setPhone(PHONE, { reachable: true, deliverAfterMs: 0 });
    const { messageId } = await send(PHONE);
    await eventsReceived(1);
    expect((await tap(messageId, 0)).body).toEqual({ result: 'tapped' });
    await eventsReceived(3);
    const tapped = webhook.events.find((event) => 'suggestionResponse' in event);
    expect(tapped).toMatchObject({
      senderPhoneNumber: PHONE,
      agentId: `${AGENT}@rbm.goog`,
      suggestionResponse: { postbackData: 'v1.a', text: 'Approve', type: 'REPLY' },
    });
    expect(tapped?.['messageId']).not.toBe(messageId);
  });

  it('is refused on a button or a card that was not sent', async () => {
    await setPhone(PHONE, { reachable: true, deliverAfterMs: 0 });
    const { messageId } = await send(PHONE);
    await eventsReceived(1);
    expect((await tap(messageId, 2)).status).toBe(422);
    expect((await tap(messageId, -1)).status).toBe(422);
    expect((await tap(randomUUID(), 0)).status).toBe(404);
  });

  it.each([
    ['approve', 'v1.a'],
    ['deny', 'v1.d'],
  ])('comes automatically for a profile with autoTap %s', async (autoTap, postbackData) => {
    await setPhone(PHONE, { reachable: true, deliverAfterMs: 0, autoTap, tapAfterMs: 0 });
    await send(PHONE);
    await eventsReceived(3);
    const tapped = webhook.events.find((event) => 'suggestionResponse' in event);
    expect(tapped).toMatchObject({ suggestionResponse: { postbackData } });
  });
});

describe('a webhook', () => {
  it('is signed over its decoded data with the client token', async () => {
    await setPhone(PHONE, { reachable: true, deliverAfterMs: 0 });
    await send(PHONE);
    await eventsReceived(1);
    const [posted] = webhook.posted.filter(({ event }) => event !== null);
    const signature = createHmac('sha512', harness.clientToken)
      .update(posted?.data ?? '')
      .digest('base64');
    expect(posted?.headers['x-goog-signature']).toBe(signature);
  });

  it('is repeated until it is answered 200', async () => {
    await harness.admin('PUT', '/_admin/rbm', { retryAfterMs: 10 });
    webhook.status = 503;
    await setPhone(PHONE, { reachable: true, deliverAfterMs: 0 });
    await send(PHONE);
    await eventsReceived(3);
    webhook.status = 200;
    const view = async () => (await harness.admin('GET', '/_admin/rbm')).body['webhook'] as Record<string, unknown>;
    await until('it is accepted', SOON_MS, async () => (await view())['delivered'] === 1);
    const ids = webhook.posted.flatMap(({ event, body }) => (event === null ? [] : [body['message']]));
    expect(new Set(ids.map((message) => (message as { messageId: string }).messageId)).size).toBe(1);
  });

  it('must answer the handshake with the secret', async () => {
    const verified = async () => (await harness.admin('GET', '/_admin/rbm')).body['webhook'] as Record<string, unknown>;
    await until('the handshake', SOON_MS, async () => (await verified())['verified'] === true);
    const [handshake] = webhook.posted;
    expect(handshake?.body).toEqual({
      clientToken: harness.clientToken,
      secret: expect.stringMatching(/^\d{10}$/) as string,
    });
    expect(handshake?.headers).not.toHaveProperty('x-goog-signature');
  });

  it.each([
    ['duplicate', { duplicate: true }, ['DELIVERED', 'DELIVERED', 'READ', 'READ', 'tap', 'tap']],
    ['dropDelivered', { dropDelivered: true }, ['READ', 'tap']],
    ['reorder', { reorder: true }, ['DELIVERED', 'READ', 'tap']],
  ])('can be configured to %s', async (_, faults, kinds) => {
    await harness.admin('PUT', '/_admin/rbm', faults);
    await setPhone(PHONE, { reachable: true, deliverAfterMs: 0, autoTap: 'approve', tapAfterMs: 50 });
    await send(PHONE);
    await eventsReceived(kinds.length);
    expect([...webhook.kinds].sort()).toEqual(kinds);
    if ('reorder' in faults) expect(webhook.kinds[0]).toBe('READ');
  });

  it('can have a wrong signature, agent and form', async () => {
    const faults = { corruptSignature: true, wrongAgent: true, omitSendTime: true, omitType: true };
    await harness.admin('PUT', '/_admin/rbm', faults);
    await setPhone(PHONE, { reachable: true, deliverAfterMs: 0, autoTap: 'deny', tapAfterMs: 0 });
    await send(PHONE);
    await eventsReceived(3);
    for (const event of webhook.events) {
      expect(event['agentId']).toBe('somebody_else@rbm.goog');
      expect(event).not.toHaveProperty('sendTime');
    }
    const tapped = webhook.events.find((event) => 'suggestionResponse' in event);
    expect(tapped?.['suggestionResponse']).toEqual({ postbackData: 'v1.d', text: 'Deny' });
  });

  it('gets a delivery and an expiry event for one message at …0301', async () => {
    await send('+14155550301');
    await eventsReceived(2);
    expect([...webhook.kinds].sort()).toEqual(['DELIVERED', 'TTL_EXPIRATION_REVOKED']);
  });

  it('gets events for STOP, typing and a suspended agent, which then reaches no phone', async () => {
    await setPhone(PHONE, { reachable: true });
    await harness.admin('POST', '/_admin/replies', { phone: PHONE, agentId: AGENT, text: ' stop ' });
    await harness.admin('POST', '/_admin/rbm/events', { phone: PHONE, agentId: AGENT, type: 'IS_TYPING' });
    await harness.admin('POST', '/_admin/rbm/events', { agentId: AGENT, type: 'SUSPENDED' });
    await eventsReceived(4);
    expect([...webhook.kinds].sort()).toEqual(['IS_TYPING', 'UNSUBSCRIBE', 'text', 'text']);
    expect(webhook.events).toContainEqual(expect.objectContaining({ newLaunchState: 'SUSPENDED' }));
    expect((await send(PHONE)).status).toBe(404);
  });
});

describe('hostile calls', () => {
  it.each([
    ['POST', '/v1/phones/+1415/agentMessages?messageId=x&agentId=a', '{"contentMessage":{"text":"x"}}'],
    ['POST', `/v1/phones/%00/agentMessages?agentId=a&messageId=${'9'.repeat(36)}`, '[]'],
    ['POST', '/v1/phones/__proto__/agentMessages?agentId=__proto__', '{"__proto__":1}'],
    ['POST', '/v1/phones/+14155552671/agentMessages?agentId=a&agentId=b', 'null'],
    ['POST', '/v1/phones/+14155552671/agentMessages', '{'],
    ['POST', '/v1/users:batchGet', '{"users":[null,{}]}'],
    ['POST', '/v1/anything', '"x"'],
    ['DELETE', '/v1/phones/+14155552671/agentMessages/..%2f..', ''],
    ['GET', '/v1/phones/1/capabilities?agentId=', ''],
    ['PUT', '/v1/phones', ''],
  ] as const)('%s %s is refused in the form of the service', async (method, pathname, body) => {
    const answer = await request(`${harness.url}${pathname}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === '' ? {} : { 'content-type': 'application/json' }) },
      body: body === '' ? null : body,
    });
    const { error } = (await answer.body.json()) as { error: Record<string, unknown> };
    expect(answer.statusCode).toBeGreaterThanOrEqual(400);
    expect(answer.statusCode).toBeLessThan(500);
    expect(error['code']).toBe(answer.statusCode);
    expect((await harness.admin('GET', '/healthz')).status).toBe(200);
  });

  it.each([
    ['PUT', '/_admin/phones/+14155552671', { online: null }],
    ['PUT', '/_admin/phones/+14155552671', { deliverAfterMs: -1 }],
    ['PUT', '/_admin/phones/+14155552671', { autoTap: 'maybe' }],
    ['PUT', '/_admin/phones/14155552671', {}],
    ['PUT', '/_admin/rbm', { agents: 'all' }],
    ['PUT', '/_admin/rbm', { webhookUrl: 'file:///etc/passwd' }],
    ['POST', '/_admin/replies', { phone: PHONE, agentId: '../x', text: 'x' }],
    ['POST', '/_admin/rbm/events', { agentId: AGENT, type: 'IS_TYPING' }],
  ] as const)('%s %s with %j is refused', async (method, pathname, body) => {
    expect((await harness.admin(method, pathname, body)).status).toBe(422);
  });

  it.each([
    ['from a page of another site', { origin: 'https://evil.example' }],
    ['by a foreign host name of this machine', { host: 'evil.example' }],
  ])('%s are refused', async (_, headers) => {
    const answer = await request(`${harness.url}/_admin/cards`, { headers });
    await answer.body.dump();
    expect(answer.statusCode).toBe(403);
  });
});
