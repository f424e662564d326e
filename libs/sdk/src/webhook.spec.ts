import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { APPROVED, PENDING } from '../test/answers.js';
import { verifyWebhook, WebhookVerificationError, type WebhookHeaders } from './webhook.js';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const OTHER = `whsec_${randomBytes(32).toString('base64')}`;
const NOW = new Date('2026-11-21T12:00:00.000Z');
const SECONDS = NOW.getTime() / 1_000;
const ID = 'evt_01HF7YAT000000000000000009';

const bodyOf = (type: string, data: unknown): string =>
  JSON.stringify({ type, timestamp: '2026-11-21T11:59:59.000Z', data });
const COMPLETED = bodyOf('verification.completed', APPROVED);

/** Signed by the reference library of the standard. */
function signed(body: string, { secret = SECRET, at = NOW } = {}): Record<string, string> {
  return {
    'content-type': 'application/json',
    'webhook-id': ID,
    'webhook-timestamp': String(at.getTime() / 1_000),
    'webhook-signature': new Webhook(secret).sign(ID, at, body),
  };
}

async function refusalOf(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | string[] = SECRET,
): Promise<string> {
  try {
    await verifyWebhook(body, headers, secrets, { now: NOW });
    return 'none';
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.reason;
    throw error;
  }
}

const later = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);

describe('verifyWebhook', () => {
  it('returns the event signed by the standard’s own library, with any content', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1 }), fc.jsonValue(), async (type, data) => {
        const body = bodyOf(`x.${type}`, data);
        const event = await verifyWebhook(body, signed(body), SECRET, { now: NOW });
        const original: unknown = JSON.parse(body);
        expect(event).toEqual({
          id: ID,
          timestamp: '2026-11-21T11:59:59.000Z',
          type: 'unknown',
          originalType: `x.${type}`,
          data: original instanceof Object && 'data' in original ? original.data : undefined,
        });
      }),
    );
  });

  it('accepts text, octets, Headers, and the headers of Node', async () => {
    const headers = signed(COMPLETED);
    const octets = new TextEncoder().encode(COMPLETED);
    const event = await verifyWebhook(COMPLETED, headers, SECRET, { now: NOW });
    expect(event.type).toBe('verification.completed');
    expect(event.type === 'verification.completed' && event.data.authEntropy).toBe(APPROVED.authEntropy);
    expect(await verifyWebhook(octets, new Headers(headers), SECRET, { now: NOW })).toEqual(event);
    expect(
      await verifyWebhook(Buffer.from(octets), { ...headers, 'set-cookie': ['a', 'b'] }, SECRET, { now: NOW }),
    ).toEqual(event);
    const shouted = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
    expect(await verifyWebhook(octets, shouted, SECRET, { now: NOW })).toEqual(event);
  });

  it('accepts either secret during a rotation, on either side', async () => {
    expect(await refusalOf(COMPLETED, signed(COMPLETED, { secret: OTHER }), [SECRET, OTHER])).toBe('none');
    const both = `${signed(COMPLETED, { secret: OTHER })['webhook-signature'] ?? ''} ${signed(COMPLETED)['webhook-signature'] ?? ''}`;
    expect(await refusalOf(COMPLETED, { ...signed(COMPLETED), 'webhook-signature': both })).toBe('none');
    const unknownScheme = `v1a,AAAA junk ${signed(COMPLETED)['webhook-signature'] ?? ''}`;
    expect(await refusalOf(COMPLETED, { ...signed(COMPLETED), 'webhook-signature': unknownScheme })).toBe('none');
  });

  it.each([
    [-300, 'none'],
    [-301, 'bad_timestamp'],
    [300, 'none'],
    [301, 'bad_timestamp'],
  ])('signed %i seconds from now: %s', async (seconds, refusal) => {
    expect(await refusalOf(COMPLETED, signed(COMPLETED, { at: later(seconds) }))).toBe(refusal);
  });

  it('rejects a signature of another secret, body, id or time', async () => {
    const headers = signed(COMPLETED);
    expect(await refusalOf(COMPLETED, signed(COMPLETED, { secret: OTHER }))).toBe('bad_signature');
    expect(await refusalOf(COMPLETED, headers, [])).toBe('bad_signature');
    expect(await refusalOf(`${COMPLETED} `, headers)).toBe('bad_signature');
    expect(await refusalOf(COMPLETED, { ...headers, 'webhook-id': `${ID}0` })).toBe('bad_signature');
    expect(await refusalOf(COMPLETED, { ...headers, 'webhook-timestamp': String(SECONDS + 1) })).toBe('bad_signature');
  });

  it('rejects a body with any changed octet', async () => {
    const headers = signed(COMPLETED);
    const octets = new TextEncoder().encode(COMPLETED);
    await fc.assert(
      fc.asyncProperty(fc.nat(octets.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const forged = octets.map((octet, index) => (index === at ? octet ^ change : octet));
        expect(await refusalOf(forged, headers)).toBe('bad_signature');
      }),
    );
  });

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
    'rejects a request without %s, or with two',
    async (name) => {
      const { [name]: value = '', ...others } = signed(COMPLETED);
      expect(await refusalOf(COMPLETED, others)).toBe('bad_headers');
      expect(await refusalOf(COMPLETED, new Headers(others))).toBe('bad_headers');
      expect(await refusalOf(COMPLETED, { ...others, [name]: '' })).toBe('bad_headers');
      expect(await refusalOf(COMPLETED, { ...others, [name]: [value, value] })).toBe('bad_headers');
      expect(await refusalOf(COMPLETED, { ...others, [name]: value, [name.toUpperCase()]: value })).toBe('bad_headers');
    },
  );

  it('rejects headers of any text, and never throws another error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), fc.string(), async (id, timestamp, signature) => {
        const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
        expect(await refusalOf(COMPLETED, headers)).toMatch(/^bad_(headers|timestamp|signature)$/);
        const now = { ...headers, 'webhook-timestamp': String(SECONDS), 'webhook-signature': `v1,${signature}` };
        expect(await refusalOf(COMPLETED, now)).toMatch(/^bad_(headers|signature)$/);
      }),
    );
  });

  it.each([
    '',
    'null',
    '[]',
    '"text"',
    '{',
    '{"type":1,"timestamp":"x","data":{}}',
    '{"type":"a","data":{}}',
    '\u{feff}{}',
  ])('rejects %j although it is genuine: it is not an event', async (body) => {
    expect(await refusalOf(body, signed(body))).toBe('bad_body');
  });

  it.each(['', 'whsec_', 'whsec_*', SECRET.slice('whsec_'.length), `v1,${SECRET}`, 'whsec_A'])(
    'throws a TypeError for %j: not a secret, which is not the sender’s fault',
    async (secret) => {
      await expect(verifyWebhook(COMPLETED, signed(COMPLETED), secret, { now: NOW })).rejects.toThrow(TypeError);
    },
  );
});

describe('an event', () => {
  const FACTS = { id: ID, timestamp: '2026-11-21T11:59:59.000Z' };
  const read = async (type: string, data: unknown): Promise<unknown> => {
    const body = bodyOf(type, data);
    return verifyWebhook(body, signed(body), SECRET, { now: NOW });
  };

  it.each([
    ['verification.completed', APPROVED],
    ['verification.denied', { ...PENDING, status: 'denied' }],
    ['verification.expired', { ...PENDING, status: 'expired' }],
    ['verification.cancelled', { ...PENDING, status: 'cancelled' }],
    ['verification.sender_mismatch', { sessionId: 'sess_1', accountId: 'acct_1', brandId: 'brd_1' }],
    ['verification.otp_delivery', { sessionId: 'sess_1', messageId: 'msg_1', state: 'failed', networkError: '0021' }],
    ['webhook.test', { accountId: 'acct_1' }],
    ['webhook.disabled', { accountId: 'acct_1', url: 'https://example.com/', reason: 'It failed for 5 days.' }],
  ])('%s has its data, including unknown fields', async (type, data) => {
    expect(await read(type, { ...data, added: true })).toEqual({ ...FACTS, type, data: { ...data, added: true } });
  });

  it.each([
    ['verification.completed', { ...APPROVED, status: 'denied' }],
    ['verification.completed', { ...APPROVED, authEntropy: undefined }],
    ['verification.completed', { ...APPROVED, phone: 7 }],
    ['verification.denied', APPROVED],
    ['verification.otp_delivery', { sessionId: 'sess_1', messageId: 'msg_1', state: 'lost' }],
    ['verification.sender_mismatch', {}],
    ['webhook.test', null],
    ['webhook.disabled', { accountId: 'acct_1' }],
    ['verification.invented', PENDING],
  ])('%s with data of another kind is unknown, and never an approval', async (type, data) => {
    expect(await read(type, data)).toMatchObject({ ...FACTS, type: 'unknown', originalType: type });
  });
});
