import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureServiceAccount } from '../../config/stack/service-account.mjs';
import { GatewayHarness } from '../support/gateway-harness.js';
import { hostileBody } from '../support/hostile.js';
import { until } from '../support/until.js';

const CLIENT_TOKEN = 'test-client-token';
const AGENT = 'acme_agent@rbm.goog';
const PHONE = '+14155552671';
const WITHIN_MS = 15_000;

let gateway: GatewayHarness;
let folder: string;
let names = 0;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-webhook-'));
  // The gateway requires a service account key beside the token; no card is sent here.
  const keyFile = await ensureServiceAccount({ dataDir: folder, tokenUri: 'http://127.0.0.1:9/token' });
  gateway = await GatewayHarness.open({ RBM_CLIENT_TOKEN: CLIENT_TOKEN, RBM_SERVICE_ACCOUNT_FILE: keyFile });
});
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
});

interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

async function post(body: string, headers: Record<string, string> = {}): Promise<HttpAnswer> {
  const response = await fetch(`http://127.0.0.1:${gateway.ports.http}/rcs/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return { status: response.status, text: await response.text() };
}

/** Posts data in the form of the platform, signed. */
function push(data: string | Buffer, changes: Record<string, string> = {}): Promise<HttpAnswer> {
  const octets = Buffer.from(data);
  const signature = createHmac('sha512', CLIENT_TOKEN).update(octets).digest('base64');
  const message = { data: octets.toString('base64'), messageId: '1', publishTime: '2026-01-15T10:00:07.9Z' };
  return post(JSON.stringify({ message, subscription: 's' }), { 'x-goog-signature': signature, ...changes });
}

const freshName = (): string => `name-${names++}`;
const delivered = (eventId: string): string =>
  JSON.stringify({
    agentId: AGENT,
    senderPhoneNumber: PHONE,
    eventType: 'DELIVERED',
    eventId,
    messageId: '4d1f6a5e-6f0b-5b58-9a3e-0c7d5a2f9b10',
    sendTime: new Date(gateway.harness.clock.nowMs()).toISOString(),
  });

async function stored(): Promise<number> {
  const [row] = await gateway.harness.database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM card_events',
  );
  return row?.count ?? 0;
}

describe('the webhook of the platform', () => {
  it('answers the handshake only with the right client token', async () => {
    const secret = '1234567890';
    expect(await post(JSON.stringify({ clientToken: CLIENT_TOKEN, secret }))).toEqual({ status: 200, text: secret });
    const refused = await post(JSON.stringify({ clientToken: 'another', secret }));
    expect(refused.status).toBe(403);
    expect(refused.text).not.toContain(secret);
  });

  it('stores a signed event once, before it answers', async () => {
    const [before, event] = [await stored(), delivered(freshName())];
    expect(await push(event)).toEqual({ status: 200, text: '' });
    expect(await stored()).toBe(before + 1);
    expect((await push(event)).status).toBe(200);
    expect(await stored()).toBe(before + 1);
    const rows = await gateway.harness.database.query('SELECT agent_id, phone, kind FROM card_events ORDER BY id DESC');
    expect(rows[0]).toEqual({ agent_id: 'acme_agent', phone: PHONE, kind: 'delivered' });
  });

  it('stores no unsigned event', async () => {
    const before = await stored();
    expect((await push(delivered(freshName()), { 'x-goog-signature': '' })).status).toBe(401);
    const foreignSignature = createHmac('sha512', 'another').update('x').digest('base64');
    expect((await push(delivered(freshName()), { 'x-goog-signature': foreignSignature })).status).toBe(401);
    expect(await stored()).toBe(before);
  });

  it.each(['', 'no JSON', '[]', '{}', '{"agentId":"a\\u0000"}', '"\\ud800"', '['.repeat(40_000)])(
    'answers the invalid event %j with 200, so that it is not repeated',
    async (data) => {
      if (data === '') expect((await push(data)).status).toBe(400);
      else expect((await push(data)).status).toBe(200);
    },
  );

  it('accepts any signed data, and processes all its events', async () => {
    const base: readonly (readonly [string, unknown])[] = [
      ['agentId', AGENT],
      ['senderPhoneNumber', PHONE],
      ['eventType', 'READ'],
      ['eventId', 'E'],
      ['messageId', '4d1f6a5e-6f0b-5b58-9a3e-0c7d5a2f9b10'],
      ['sendTime', '2026-01-15T10:00:07.412Z'],
      ['suggestionResponse', { postbackData: 'v1.a.sess_01H4000000E008000000000001.00000000000000000000000000000000' }],
      ['newLaunchState', 'LAUNCHED'],
    ];
    const members = base.map(([name]) => name);
    const more = ['DELIVERED', 'TTL_EXPIRATION_REVOKED', 'UNSUBSCRIBE', 'STOP', 'SUSPENDED', 'phoneNumber'];
    await fc.assert(
      fc.asyncProperty(hostileBody(base, members, more), async (data) => {
        const octets = Buffer.from(data);
        expect((await push(octets)).status).toBe(octets.length === 0 ? 400 : 200);
      }),
      { numRuns: 300 },
    );
    await until('all events are processed', WITHIN_MS, async () => {
      const unprocessed = await gateway.harness.database.query('SELECT 1 FROM card_events WHERE handled_at IS NULL');
      return unprocessed.length === 0;
    });
    // A busy database delays events: they are processed by a later poll. None fails for what it says.
    const failed = gateway.log.filter((line) => line.includes('RCS event could not be processed'));
    expect(failed.filter((line) => !line.includes('DatabaseUnavailable'))).toEqual([]);
  });

  it('refuses any unsigned body', async () => {
    const members = ['message', 'data', 'clientToken', 'secret'];
    const body = hostileBody([['message', { data: 'e30=' }]], members, [CLIENT_TOKEN, 'e30=']);
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        expect([400, 401]).toContain((await post(text)).status);
      }),
      { numRuns: 200 },
    );
  });

  it('answers 503 to an event that it cannot store, and accepts the repeat once it can', async () => {
    const event = delivered(freshName());
    const before = await stored();
    await gateway.line.cut();
    const refused = await push(event);
    expect(refused.status).toBe(503);
    expect(refused.text).toContain('SERVICE_UNAVAILABLE');
    await gateway.line.mend();
    await until('the repeat is accepted', WITHIN_MS, async () => (await push(event)).status === 200);
    expect(await stored()).toBe(before + 1);
  });

  it('counts requests by their result', async () => {
    for (const fate of ['stored', 'handshake', 'wrong_token', 'unsigned', 'malformed', 'unreadable', 'sent_back']) {
      expect(await gateway.metric(`countersign_rcs_webhooks_total{fate="${fate}"`), fate).toBeGreaterThan(0);
    }
    expect(await gateway.metric('countersign_rcs_events_total{kind="delivered"')).toBeGreaterThan(0);
  });
});
