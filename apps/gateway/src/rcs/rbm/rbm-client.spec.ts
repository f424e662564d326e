import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageIdOf, type Card } from '@countersign/rcs/rules';
import { firstIdAt, newId } from '@countersign/ids';
import { afterEach, describe, expect, it } from 'vitest';
import { RbmClient, type RbmProblem } from './rbm-client.js';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const id = firstIdAt(Date.parse('2026-01-15T10:00:00.000Z'));
const card: Card = {
  id,
  accountId: newId(0),
  brandId: newId(0),
  originProcess: newId(0),
  agentId: 'acme_verify@rbm.goog',
  phone: '+12025550123',
  brandName: 'Acme',
  logoUrl: null,
  numberMatching: false,
  keyVersion: 1,
  messageId: messageIdOf(id, 'card'),
  expiresAt: new Date('2026-01-15T10:01:30.000Z'),
};
const suggestions = [
  { text: 'Approve', postback: 'v1.a.sess_01.9f2c' },
  { text: 'Deny', postback: 'v1.d.sess_01.9f2c' },
];
const SENT = { kind: 'sent' };

interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly authorization: string;
  readonly contentType: string | undefined;
  readonly body: string;
}
type Handler = (response: ServerResponse, received: ReceivedRequest, times: number) => void;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A platform with the given handlers, by default granting a new token per exchange, and its client. */
async function platform(handler: Handler, token: Handler = grant) {
  const requests: ReceivedRequest[] = [];
  let exchanges = 0;
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { method = '', url = '', headers } = request;
      const { authorization = '', 'content-type': contentType } = headers;
      const call = { method, url, authorization, contentType, body };
      if (url === '/rbm/token') token(response, call, ++exchanges);
      else handler(response, call, requests.push(call));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rbm`;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const problems: RbmProblem[] = [];
  const account = {
    clientEmail: 'cards@acme.example',
    privateKeyId: 'key-1',
    privateKey,
    tokenUri: `${baseUrl}/token`,
  };
  const onProblem = (problem: RbmProblem): void => void problems.push(problem);
  const client = new RbmClient({ baseUrl, account, nowMs: () => Date.now(), onProblem });
  ends.push(close, () => client.stop());
  return { client, requests, problems, close };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
  return body;
}

const grant: Handler = (response, _, times) => {
  response.end(JSON.stringify({ access_token: `token-${times}`, expires_in: 3_599 }));
};
const answer =
  (status: number, message = ''): Handler =>
  (response) =>
    response.writeHead(status).end(JSON.stringify({ error: { code: status, message, status: 'X' } }));
const ok: Handler = (response) => response.end('{}');
/** Reads the request and never answers. */
const silence: Handler = () => undefined;
const cut: Handler = (response) => response.destroy();
/** The handlers in turn, then the last one for all further requests. */
const inTurn =
  (...handlers: readonly [Handler, ...Handler[]]): Handler =>
  (response, received, times) =>
    (handlers[Math.min(times, handlers.length) - 1] ?? handlers[0])(response, received, times);

describe('a card', () => {
  it('is sent in one call, in the form of the platform', async () => {
    const { client, requests, problems } = await platform(ok);
    expect(await client.sendCard(card, suggestions)).toEqual(SENT);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      url: `/rbm/v1/phones/+12025550123/agentMessages?messageId=${card.messageId}&agentId=acme_verify`,
      authorization: 'Bearer token-1',
      contentType: 'application/json',
    });
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({
      contentMessage: { richCard: { standaloneCard: { cardContent: { title: 'Sign in to Acme?' } } } },
      messageTrafficType: 'AUTHENTICATION',
      expireTime: '2026-01-15T10:01:30.000Z',
    });
    expect(problems).toEqual([]);
  });

  it.each([
    [200, SENT],
    [409, SENT],
    [404, { kind: 'unreachable' }],
    [400, { kind: 'refused', because: 'invalid_argument' }],
    [403, { kind: 'refused', because: 'permission_denied' }],
    [429, { kind: 'refused', because: 'throttled' }],
    [301, { kind: 'refused', because: 'rejected' }],
    [500, { kind: 'unknown', because: 'server_error' }],
    [503, { kind: 'unknown', because: 'server_error' }],
  ])('answered with %i is %j, and is not sent again', async (status, outcome) => {
    const { client, requests } = await platform((response) => response.writeHead(status, { location: '/' }).end());
    expect(await client.sendCard(card, suggestions)).toEqual(outcome);
    expect(requests).toHaveLength(1);
  });

  it('is sent when the platform reports a duplicate after a lost connection', async () => {
    const { client, requests } = await platform(inTurn(cut, answer(409)));
    expect(await client.sendCard(card, suggestions)).toEqual(SENT);
    expect(new Set(requests.map(({ url }) => url)).size).toBe(1);
    expect(requests).toHaveLength(2);
  });

  it('has an unknown outcome after a lost connection, whatever the second answer', async () => {
    for (const second of [cut, answer(429), answer(403)]) {
      const { client, requests } = await platform(inTurn(cut, second));
      expect(await client.sendCard(card, suggestions)).toEqual({ kind: 'unknown', because: 'connection_lost' });
      expect(requests).toHaveLength(2);
    }
  });

  it('is refused as not sent without a connection', async () => {
    const { client, close } = await platform(ok);
    await client.sendCard(card, suggestions);
    await close();
    // Token and connection are cached: the client may notice the closed connection only at this send.
    await client.sendCard(card, suggestions);
    expect(await client.sendCard(card, suggestions)).toEqual({ kind: 'refused', because: 'not_connected' });
  });

  it('has an unknown outcome without an answer in 1.5 s', async () => {
    const { client, requests } = await platform(silence);
    expect(await client.sendCard(card, suggestions)).toEqual({ kind: 'unknown', because: 'timeout' });
    expect(requests).toHaveLength(1);
  });

  it('has the outcome of the status when the body of the answer does not end', async () => {
    const { client } = await platform((response) => void response.writeHead(200).write('{'));
    expect(await client.sendCard(card, suggestions)).toEqual(SENT);
  });

  it('with a button beyond the platform’s limits is not sent, and is reported', async () => {
    const { client, requests, problems } = await platform(ok);
    const wide = [{ text: 'x'.repeat(26), postback: 'x' }];
    expect(await client.sendCard(card, wide)).toEqual({ kind: 'refused', because: 'not_drawn' });
    expect(requests).toEqual([]);
    expect(problems).toMatchObject([{ agentId: 'acme_verify', because: 'not_drawn' }]);
  });
});

describe('a token', () => {
  it('that is rejected is replaced, and the card is sent again, once', async () => {
    const { client, requests } = await platform(inTurn(answer(401), ok));
    expect(await client.sendCard(card, suggestions)).toEqual(SENT);
    expect(requests.map(({ authorization }) => authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
    expect(new Set(requests.map(({ url }) => url)).size).toBe(1);
  });

  it('that is rejected twice is reported to an engineer', async () => {
    const { client, requests, problems } = await platform(answer(401, 'Request had invalid credentials.'));
    expect(await client.sendCard(card, suggestions)).toEqual({ kind: 'refused', because: 'unauthenticated' });
    expect(requests).toHaveLength(2);
    const said = 'Request had invalid credentials.';
    expect(problems).toEqual([{ agentId: 'acme_verify', because: 'unauthenticated', said }]);
  });

  it('that cannot be obtained prevents sends, and is reported', async () => {
    const { client, requests, problems } = await platform(ok, (response) => {
      response.writeHead(400).end('{"error":"invalid_grant"}');
    });
    expect(await client.sendCard(card, suggestions)).toEqual({ kind: 'refused', because: 'no_token' });
    expect(await client.revoke(card)).toBe('again');
    expect(requests).toEqual([]);
    const said = 'the token endpoint answered 400 invalid_grant';
    expect(problems).toEqual([{ agentId: null, because: 'no_token', said }]);
  });

  it('that does not arrive in time prevents the send', async () => {
    const { client, requests } = await platform(ok, silence);
    expect(await client.sendCard(card, suggestions)).toEqual({ kind: 'refused', because: 'no_token' });
    expect(requests).toEqual([]);
  });

  it('is fetched once for concurrent cards', async () => {
    let exchanges = 0;
    const { client, requests } = await platform(ok, (response, call, times) => {
      exchanges += 1;
      grant(response, call, times);
    });
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => client.sendCard(card, suggestions)));
    expect(outcomes).toEqual(outcomes.map(() => SENT));
    expect([exchanges, requests.length]).toEqual([1, 50]);
  });
});

describe('an agent', () => {
  const other = { ...card, agentId: 'other_agent' };

  it('that is forbidden is blocked for a while, and no other agent is affected', async () => {
    const { client, requests, problems } = await platform((response, call, times) => {
      (call.url.includes('acme_verify') ? answer(403, 'No such agent.') : ok)(response, call, times);
    });
    expect(await client.sendCard(card, suggestions)).toEqual({ kind: 'refused', because: 'permission_denied' });
    expect(await client.sendCard(card, suggestions)).toEqual({ kind: 'refused', because: 'breaker_open' });
    expect(await client.sendCard(other, suggestions)).toEqual(SENT);
    expect(requests).toHaveLength(2);
    expect(problems).toEqual([{ agentId: 'acme_verify', because: 'permission_denied', said: 'No such agent.' }]);
  });

  it('is blocked after five failures in a row, under either form of its id', async () => {
    const { client, requests } = await platform(answer(503));
    for (let times = 0; times < 5; times += 1) await client.sendCard(card, suggestions);
    const plain = { ...card, agentId: 'acme_verify' };
    expect(await client.sendCard(plain, suggestions)).toEqual({ kind: 'refused', because: 'breaker_open' });
    expect(requests).toHaveLength(5);
  });

  it('is not blocked for phones without RCS', async () => {
    const { client, requests } = await platform(answer(404));
    for (let times = 0; times < 10; times += 1) await client.sendCard(card, suggestions);
    expect(requests).toHaveLength(10);
  });
});

describe('a command', () => {
  it('revokes the card by its message id', async () => {
    const { client, requests } = await platform(ok);
    expect(await client.revoke(card)).toBe('done');
    const url = `/rbm/v1/phones/+12025550123/agentMessages/${card.messageId}?agentId=acme_verify`;
    expect(requests).toMatchObject([{ method: 'DELETE', url, contentType: undefined, body: '' }]);
  });

  it('sends the closing text with its own constant message id', async () => {
    const { client, requests } = await platform(ok);
    expect([await client.sendClosingText(card, 'approve'), await client.sendClosingText(card, 'deny')]).toEqual([
      'done',
      'done',
    ]);
    const url = `/rbm/v1/phones/+12025550123/agentMessages?messageId=${messageIdOf(id, 'closing')}&agentId=acme_verify`;
    expect(requests.map((call) => [call.method, call.url])).toEqual([
      ['POST', url],
      ['POST', url],
    ]);
    expect(messageIdOf(id, 'closing')).not.toBe(card.messageId);
    expect(requests.map(({ body }) => body.includes('You approved'))).toEqual([true, false]);
  });

  it.each([
    [200, 'done'],
    [404, 'done'],
    [409, 'done'],
    [400, 'done'],
    [403, 'done'],
    [429, 'again'],
    [500, 'again'],
  ])('answered with %i has the result %s', async (status, result) => {
    const { client } = await platform(answer(status));
    expect(await client.revoke(card)).toBe(result);
    expect(await client.sendClosingText(card, 'deny')).toBe(result);
  });

  it('is not blocked with its agent: sent cards are revoked even when no further cards are sent', async () => {
    const { client } = await platform((response, call, times) => {
      (call.method === 'POST' ? answer(403) : ok)(response, call, times);
    });
    await client.sendCard(card, suggestions);
    expect(await client.revoke(card)).toBe('done');
  });
});

describe('many commands', () => {
  it('run concurrently without a warning of Node', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    const { client, requests } = await platform(ok);
    const results = await Promise.all(Array.from({ length: 100 }, () => client.revoke(card)));
    process.off('warning', onWarning);
    expect(results).toEqual(results.map(() => 'done'));
    expect(requests).toHaveLength(100);
    expect(warnings).toEqual([]);
  });
});

describe('stopping the client', () => {
  it('waits for the outcomes of sends in flight, returns commands for a retry, and sends nothing further', async () => {
    let release = (): void => undefined;
    const { client, requests } = await platform((response, call, times) => {
      if (call.method === 'POST') release = () => ok(response, call, times);
    });
    const sent = client.sendCard(card, suggestions);
    const revoked = client.revoke(card);
    await expect.poll(() => requests.length).toBe(2);
    const stopped = client.stop();
    expect(await revoked).toBe('again');
    expect(await client.sendCard(card, suggestions)).toEqual({ kind: 'refused', because: 'stopped' });
    expect(await client.sendClosingText(card, 'deny')).toBe('again');
    release();
    expect(await sent).toEqual(SENT);
    await stopped;
    expect(requests).toHaveLength(2);
  });
});

describe('a gateway without platform settings', () => {
  it('has no client', () => {
    expect(RbmClient.open(null, { nowMs: () => 0, onProblem: () => undefined })).toBeNull();
  });
});
