import { ServerKeys } from '@countersign/keys';
import { describe, expect, it } from 'vitest';
import { authEntropy } from './tokens/auth-entropy.js';
import { deriveToken } from './tokens/token.js';
import type { Session } from './rules/session.js';
import { SessionRenderer } from './session.view.js';

const keys = ServerKeys.fromMaster(Buffer.alloc(32, 3));
const entropyKeys = new Map([[2, Buffer.alloc(32, 4)]]);
const renderer = new SessionRenderer(keys, { entropyKeys });

const PENDING: Session = {
  id: '018bcfe5-6800-0000-0000-000000000001',
  accountId: '018bcfe5-6800-0000-0000-000000000002',
  brandId: '018bcfe5-6800-0000-0000-000000000003',
  phone: '+14155552671',
  status: 'pending',
  country: 'US',
  test: false,
  brandName: 'Acme',
  otpSender: null,
  otpDomain: null,
  channel: 'sms_fallback',
  clientChallenge: 'AbCdEf0123456789'.repeat(4),
  brandSlug: 'ACME',
  instruction: 'Send this.',
  inboundNumber: '+14155550100',
  webhookUrl: 'https://example.com/hook',
  allowSmsOtp: true,
  metadata: [
    ['b', 'quote " and \\ and \n'],
    ['2', 'two'],
    ['1', 'one'],
    ['__proto__', 'ünïcode 🙂'],
  ],
  entropyKeyVersion: 2,
  keyVersion: 1,
  createdAt: new Date(1_700_000_000_007),
  expiresAt: new Date(1_700_000_090_007),
  endedAt: null,
};
const APPROVED: Session = { ...PENDING, status: 'approved', endedAt: new Date(1_700_000_004_321) };

const ID = 'sess_01HF7YAT000000000000000001';
const ACCOUNT = 'acct_01HF7YAT000000000000000002';
const BRAND = 'brd_01HF7YAT000000000000000003';

describe('SessionRenderer', () => {
  it('writes the fields in the order of the specification, metadata unchanged', () => {
    const uri = `sms:+14155550100?body=AUTH-ACME-${deriveToken(keys, PENDING.id)}%0ASend%20this.`;
    expect(renderer.full(PENDING)).toBe(
      `{"id":"${ID}","status":"pending","channel":"sms_fallback","fallbackUri":"${uri}","phone":"+14155552671",` +
        `"accountId":"${ACCOUNT}","brandId":"${BRAND}","brandSlug":"ACME","clientChallenge":"${PENDING.clientChallenge}",` +
        '"latencyMs":null,"approvedAt":null,"expiresAt":"2023-11-14T22:14:50.007Z","createdAt":"2023-11-14T22:13:20.007Z",' +
        '"metadata":{"b":"quote \\" and \\\\ and \\n","2":"two","1":"one","__proto__":"ünïcode 🙂"}}',
    );
  });

  it('adds the time of approval, the latency and authEntropy once approved', () => {
    const text = renderer.full(APPROVED);
    expect(text).toContain('"latencyMs":4314,"approvedAt":"2023-11-14T22:13:24.321Z"');
    const entropy = authEntropy(entropyKeys, 2, {
      mode: 'live',
      phone: PENDING.phone,
      accountId: ACCOUNT,
      brandId: BRAND,
    });
    expect(text.endsWith(`,"authEntropy":"${entropy}"}`)).toBe(true);
    expect(renderer.authEntropy(APPROVED)).toBe(entropy);
  });

  it('marks a test session in every view, and gives it its own authEntropy', () => {
    const test = { ...APPROVED, test: true };
    const views = [renderer.full(test), renderer.listed(test), renderer.reduced(test), renderer.checked(test)];
    for (const text of views) expect(JSON.parse(text)).toMatchObject({ test: true });
    for (const text of [renderer.full(APPROVED), renderer.listed(APPROVED), renderer.reduced(APPROVED)]) {
      expect(JSON.parse(text)).not.toHaveProperty('test');
    }
    expect(renderer.authEntropy(test)).not.toBe(renderer.authEntropy(APPROVED));
  });

  it.each(['expired', 'denied', 'cancelled'] as const)('shows neither approval nor entropy when %s', (status) => {
    const text = renderer.full({ ...APPROVED, status });
    expect(text).toContain(`"status":"${status}"`);
    expect(text).toContain('"latencyMs":null,"approvedAt":null');
    expect(text).not.toContain('authEntropy');
  });

  it('shows exactly eight fields to a browser with a ticket', () => {
    const { fallbackUri } = JSON.parse(renderer.full(APPROVED)) as { readonly fallbackUri: string };
    expect(renderer.reduced(APPROVED)).toBe(
      `{"id":"${ID}","status":"approved","channel":"sms_fallback","fallbackUri":"${fallbackUri}",` +
        '"expiresAt":"2023-11-14T22:14:50.007Z","createdAt":"2023-11-14T22:13:20.007Z",' +
        '"approvedAt":"2023-11-14T22:13:24.321Z","latencyMs":4314}',
    );
    expect(renderer.reduced(PENDING)).toContain('"approvedAt":null,"latencyMs":null}');
  });

  it('has no link after the card was delivered', () => {
    expect(renderer.full({ ...PENDING, channel: 'rcs' })).toContain('"channel":"rcs","fallbackUri":null,');
  });

  it('lists a session as create and GET return it, but never with authEntropy', () => {
    expect(renderer.listed(PENDING)).toBe(renderer.full(PENDING));
    const { authEntropy: shown, ...rest } = JSON.parse(renderer.full(APPROVED)) as Record<string, unknown>;
    expect(shown).toBe(renderer.authEntropy(APPROVED));
    expect(JSON.parse(renderer.listed(APPROVED))).toEqual(rest);
  });

  it('masks the phone and leaves out metadata and link for readers who may not see people’s data', () => {
    const listed = JSON.parse(renderer.listed(APPROVED)) as Record<string, unknown>;
    const masked = { phone: '+141******71', metadata: {}, fallbackUri: null };
    expect(JSON.parse(renderer.masked(APPROVED))).toEqual({ ...listed, ...masked });
    expect(renderer.masked({ ...PENDING, test: true })).toContain('"test":true');
  });

  it('answers an accepted code with the fields of the specification; the key share equals authEntropy', () => {
    const entropy = renderer.authEntropy(APPROVED);
    expect(renderer.checked(APPROVED)).toBe(
      `{"id":"${ID}","status":"approved","phone":"+14155552671","authEntropy":"${entropy}","e2eeKeyShare":"${entropy}"}`,
    );
  });
});
