import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWebhookSecret } from '@countersign/keys';
import { newId, renderId } from '@countersign/ids';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it } from 'vitest';
import { guardedAgent } from './guarded-agent.js';
import { TargetRules } from '../targets/target.js';
import { signedHeaders, WebhookPoster } from './webhook-poster.js';

const SECRET = createWebhookSecret();
const rules = new TargetRules({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true });
const post = {
  owner: { accountId: newId(0), test: false },
  eventId: newId(Date.now()),
  body: '{"type":"x","data":"é😀"}',
  secrets: [SECRET],
  nowMs: Date.now(),
};

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** A receiver with a fixed response, and the requests that it received. */
async function receiver(status: number, headers: Record<string, string> = {}) {
  const requests: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      requests.push({ headers: request.headers, body });
      response.writeHead(status, headers).end('thanks');
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, requests };
}

const poster = () => new WebhookPoster(rules, guardedAgent(rules, null));

describe('a signature', () => {
  it('is HMAC-SHA256 over id, time and body, with the decoded secret', () => {
    const headers = signedHeaders(post);
    const id = renderId('evt', post.eventId);
    const seconds = String(Math.floor(post.nowMs / 1000));
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
    const expected = createHmac('sha256', key).update(`${id}.${seconds}.${post.body}`).digest('base64');
    expect(headers).toMatchObject({
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${expected}`,
    });
  });
});

describe('an attempt', () => {
  it('sends the octets unchanged, with a signature that verifies', async () => {
    const { url, requests } = await receiver(204);
    expect(await poster().post({ ...post, url })).toEqual({ kind: 'answered', status: 204, retryAfter: null });
    const [first] = requests;
    expect(first?.body).toBe(post.body);
    const headers = first?.headers ?? {};
    expect(
      new Webhook(SECRET).verify(first?.body ?? '', {
        'webhook-id': String(headers['webhook-id']),
        'webhook-timestamp': String(headers['webhook-timestamp']),
        'webhook-signature': String(headers['webhook-signature']),
      }),
    ).toEqual({ type: 'x', data: 'é😀' });
  });

  it('reports a redirect with its Retry-After, and does not follow it', async () => {
    const elsewhere = await receiver(200);
    const { url } = await receiver(302, { location: elsewhere.url, 'retry-after': '7' });
    expect(await poster().post({ ...post, url })).toEqual({ kind: 'answered', status: 302, retryAfter: '7' });
    expect(elsewhere.requests).toHaveLength(0);
  });

  it('to a refused target is blocked, by name and by address', async () => {
    for (const url of ['http://10.0.0.1/', 'https://user@example.com/', 'ftp://127.0.0.1/', 'nonsense']) {
      expect((await poster().post({ ...post, url })).kind).toBe('blocked');
    }
  });

  it('that fails reports an error code', async () => {
    expect(await poster().post({ ...post, url: 'http://127.0.0.1:1/' })).toEqual({
      kind: 'failed',
      error: 'ECONNREFUSED',
    });
    const server = createServer((request) => request.socket.destroy());
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await poster().post({ ...post, url })).toEqual({ kind: 'failed', error: 'UND_ERR_SOCKET' });
  });
});
