import { describe, expect, it } from 'vitest';
import { redactBody, renderDelivery, type DeliveryRow } from './delivery.view.js';

const ENTROPY = '3f1c9ab2'.repeat(8);
const TRAPS = '{"authEntropy":"mine","9":"\\"fallbackUri\\":\\"x\\"","fallbackUri":"mine","__proto__":"p"}';

const ROW: DeliveryRow = {
  id: '018bcfe5-6800-7000-8000-000000000001',
  accountId: '018bcfe5-6800-7000-8000-000000000002',
  sessionId: null,
  type: 'webhook.test',
  url: 'https://acme.example/hook',
  status: 'pending',
  attempts: [],
  nextAttemptAt: new Date('2026-05-04T10:00:00.000Z'),
  bodySealed: null,
};

describe('the body of a shown delivery', () => {
  it('has neither link nor entropy, and unchanged metadata', () => {
    const session = (uri: string, entropy: string): string =>
      `{"type":"verification.completed","timestamp":"t","data":{"id":"sess_1","fallbackUri":"${uri}","metadata":${TRAPS},"authEntropy":"${entropy}"}}`;
    expect(redactBody(session('sms:+1?body=AUTH', ENTROPY))).toBe(session('[redacted]', '[redacted]'));
  });

  it('is unchanged without a link and entropy', () => {
    const body = `{"type":"verification.denied","timestamp":"t","data":{"fallbackUri":null,"metadata":{}}}`;
    expect(redactBody(body)).toBe(body);
  });
});

describe('a shown delivery', () => {
  it('has the same id as its event but for the prefix, and no body before its first attempt', () => {
    const shown = JSON.parse(renderDelivery(ROW, null)) as Record<string, unknown>;
    expect(shown).toEqual({
      id: expect.stringMatching(/^dlv_/) as unknown,
      eventId: String(shown['id']).replace('dlv_', 'evt_'),
      type: 'webhook.test',
      sessionId: null,
      url: ROW.url,
      status: 'pending',
      attempts: [],
      nextAttemptAt: '2026-05-04T10:00:00.000Z',
      body: null,
    });
  });
});
