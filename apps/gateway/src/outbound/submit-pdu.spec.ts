import { describe, expect, it } from 'vitest';
import { senderAddress } from './submit-address.js';
import { absoluteTime, relativeTime, submitPdu, type Envelope } from './submit-pdu.js';
import type { TextPart } from './text-parts.js';

const message: Envelope = {
  destination: '+14155552671',
  source: '+14155550100',
  validSeconds: 90,
  expiresAt: new Date('2026-01-31T23:59:58.900Z'),
  brand: 'Acme',
  messageId: 'msg_1',
};
const part: TextPart = { esmClass: 0, dataCoding: 0, shortMessage: Buffer.from('123456'), tlvs: [], isLast: true };

describe('the sender of a code', () => {
  it.each([
    ['+14155550100', { ton: 1, npi: 1, value: '14155550100' }],
    ['60606', { ton: 3, npi: 0, value: '60606' }],
    ['12345678', { ton: 3, npi: 0, value: '12345678' }],
    ['4155550100', { ton: 0, npi: 1, value: '4155550100' }],
    ['ACME', { ton: 5, npi: 0, value: 'ACME' }],
    ['Acme 24', { ton: 5, npi: 0, value: 'Acme 24' }],
  ])('%s gets its TON and NPI', (source, address) => {
    expect(senderAddress(source)).toEqual(address);
  });
});

describe('the submit of a code', () => {
  it('requests a receipt, and is valid until its session ends', () => {
    expect(submitPdu(message, part).fields).toMatchObject({
      destinationAddress: { ton: 1, npi: 1, value: '14155552671' },
      registeredDelivery: 1,
      validityPeriod: '000000000130000R',
      esmClass: 0,
      dataCoding: 0,
      shortMessage: part.shortMessage,
    });
    expect(submitPdu(message, { ...part, isLast: false }).fields.registeredDelivery).toBe(0);
  });

  it.each([
    [1, '000000000001000R'],
    [60, '000000000100000R'],
    [300, '000000000500000R'],
    [3_661, '000000010101000R'],
  ])('%i seconds are %s', (seconds, time) => {
    expect(relativeTime(seconds)).toBe(time);
  });

  it('may end at a time in UTC', () => expect(absoluteTime(message.expiresAt)).toBe('260131235958000+'));
});
