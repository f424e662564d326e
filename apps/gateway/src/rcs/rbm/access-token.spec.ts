import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { Agent } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { AccessTokens, parseGrant } from './access-token.js';
import type { Answer } from './rbm-call.js';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

type Handler = (response: ServerResponse, times: number) => void;

/** A token endpoint with the given handler, its recorded requests, and a manual clock. */
async function endpoint(handler: Handler) {
  const requests: URLSearchParams[] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => handler(response, requests.push(new URLSearchParams(body))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const tokenUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const dispatcher = new Agent();
  ends.push(() => dispatcher.destroy());
  ends.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const faults: string[] = [];
  const time = { ms: 0 };
  const tokens = new AccessTokens({
    account: { clientEmail: 'cards@acme.example', privateKeyId: 'key-1', privateKey, tokenUri },
    dispatcher,
    nowMs: () => 1_768_471_200_000,
    monotonicMs: () => time.ms,
    onFault: (fault) => faults.push(fault),
  });
  return { tokens, requests, faults, time };
}

const granting =
  (seconds: number): Handler =>
  (response, times) =>
    response.end(JSON.stringify({ access_token: `token-${times}`, expires_in: seconds, token_type: 'Bearer' }));

describe('an access token', () => {
  it('is obtained by one exchange for concurrent callers, and cached', async () => {
    const { tokens, requests } = await endpoint(granting(3_599));
    const together = await Promise.all([tokens.get(), tokens.get(), tokens.get()]);
    expect(together).toEqual([{ token: 'token-1' }, { token: 'token-1' }, { token: 'token-1' }]);
    expect(await tokens.get()).toEqual({ token: 'token-1' });
    expect(requests).toHaveLength(1);
    expect(requests[0]?.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    expect(requests[0]?.get('assertion')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  it('is not used in its last minute', async () => {
    const { tokens, time } = await endpoint(granting(3_600));
    await tokens.get();
    time.ms = 3_540_000;
    expect(await tokens.get()).toEqual({ token: 'token-2' });
  });

  it('is renewed before it expires, without delaying callers', async () => {
    let release = (): void => undefined;
    const { tokens, requests, time } = await endpoint((response, times) => {
      if (times === 1) granting(3_600)(response, times);
      else release = () => granting(3_600)(response, times);
    });
    await tokens.get();
    time.ms = 3_300_000;
    expect(await tokens.get()).toEqual({ token: 'token-1' });
    await expect.poll(() => requests.length).toBe(2);
    expect(await tokens.get()).toEqual({ token: 'token-1' });
    release();
    await expect.poll(() => tokens.get()).toEqual({ token: 'token-2' });
    expect(requests).toHaveLength(2);
  });

  it('with a short lifetime is used for half of it', async () => {
    const { tokens, time } = await endpoint(granting(60));
    await tokens.get();
    time.ms = 29_999;
    expect(await tokens.get()).toEqual({ token: 'token-1' });
    time.ms = 30_000;
    await expect.poll(() => tokens.get()).toEqual({ token: 'token-2' });
  });

  it('that was rejected is dropped, but not its replacement', async () => {
    const { tokens, requests } = await endpoint(granting(3_600));
    await tokens.get();
    tokens.drop('token-1');
    expect(await tokens.get()).toEqual({ token: 'token-2' });
    tokens.drop('token-1');
    expect(await tokens.get()).toEqual({ token: 'token-2' });
    expect(requests).toHaveLength(2);
  });

  it('that is refused is requested again after an increasing backoff, and each refusal is reported', async () => {
    let broken = true;
    const { tokens, requests, faults, time } = await endpoint((response, times) => {
      if (!broken) granting(3_600)(response, times);
      else response.writeHead(400).end('{"error":"invalid_grant","error_description":"Invalid JWT Signature."}');
    });
    const fault = 'the token endpoint answered 400 invalid_grant';
    expect(await Promise.all([tokens.get(), tokens.get()])).toEqual([{ fault }, { fault }]);
    time.ms = 499;
    expect(await tokens.get()).toEqual({ fault });
    expect(requests).toHaveLength(1);
    time.ms = 500;
    expect(await tokens.get()).toEqual({ fault });
    time.ms = 1_499;
    expect(await tokens.get()).toEqual({ fault });
    expect(requests).toHaveLength(2);
    broken = false;
    time.ms = 1_500;
    expect(await tokens.get()).toEqual({ token: 'token-3' });
    expect(faults).toEqual([fault, fault]);
  });

  it('stays in use when its renewal fails', async () => {
    const { tokens, faults, time } = await endpoint((response, times) => {
      if (times === 1) granting(3_600)(response, times);
      else response.destroy();
    });
    await tokens.get();
    time.ms = 3_400_000;
    expect(await tokens.get()).toEqual({ token: 'token-1' });
    await expect.poll(() => faults).toEqual(['no answer from the token endpoint: connection_lost']);
    expect(await tokens.get()).toEqual({ token: 'token-1' });
  });
});

describe('the answer of a token endpoint', () => {
  const answered = (status: number, body: string): Answer => ({ kind: 'answered', status, body: Buffer.from(body) });

  it.each([
    [
      { access_token: 'a.b-c', expires_in: 3_599 },
      { token: 'a.b-c', lifetimeMs: 3_599_000 },
    ],
    [
      { access_token: 'a', expires_in: 1e9 },
      { token: 'a', lifetimeMs: 86_400_000 },
    ],
    [{ expires_in: 3_599 }, { fault: 'the token endpoint gave no access token' }],
    [{ access_token: '', expires_in: 3_599 }, { fault: 'the token endpoint gave no access token' }],
    [{ access_token: 'a\r\nb', expires_in: 3_599 }, { fault: 'the token endpoint gave no access token' }],
    [{ access_token: 'a' }, { fault: 'the token endpoint gave a token without an end' }],
    [{ access_token: 'a', expires_in: 0 }, { fault: 'the token endpoint gave a token without an end' }],
    [{ access_token: 'a', expires_in: '60' }, { fault: 'the token endpoint gave a token without an end' }],
  ])('%j', (body, grant) => {
    expect(parseGrant(answered(200, JSON.stringify(body)))).toEqual(grant);
  });

  it('is either a usable token or a fault without text of the endpoint', () => {
    const bodies = fc.oneof(
      fc.string(),
      fc.json(),
      fc.record({ error: fc.string() }).map((body) => JSON.stringify(body)),
    );
    fc.assert(
      fc.property(fc.constantFrom(200, 400, 401, 500), bodies, (status, body) => {
        const grant = parseGrant(answered(status, body));
        if ('fault' in grant) expect(grant.fault).toMatch(/^[a-z0-9_ ]+$/);
        else expect(status).toBe(200);
      }),
    );
  });
});
