import { describe, expect, it } from 'vitest';
import { receiptOf, wantsReceipt } from './receipt.js';

const message = {
  messageId: '0a1b2c3d',
  from: { ton: 3, npi: 0, value: '72345' },
  to: { ton: 1, npi: 1, value: '14155552671' },
  text: '123456 is your Acme code. Do not share it.',
  at: new Date('2026-11-20T09:05:30Z'),
};

describe('a delivery receipt', () => {
  it('travels back from the phone, and says the same in its text and in its TLVs', () => {
    const receipt = receiptOf(message, 'DELIVRD', new Date('2026-11-20T09:06:00Z'));
    expect(receipt.short_message.toString()).toBe(
      'id:0a1b2c3d sub:001 dlvrd:001 submit date:2611200905 done date:2611200906 stat:DELIVRD err:000 text:123456 is your Acme ',
    );
    expect(receipt).toMatchObject({
      esm_class: 4,
      source_addr: '14155552671',
      destination_addr: '72345',
      receipted_message_id: '0a1b2c3d',
      message_state: 2,
    });
    expect(receipt.network_error_code).toBeUndefined();
  });

  it('names the error of a message that did not arrive', () => {
    const receipt = receiptOf(message, 'UNDELIV', message.at);
    expect(receipt.short_message.toString()).toContain('stat:UNDELIV err:027');
    expect(receipt.message_state).toBe(5);
    expect(receipt.network_error_code).toEqual(Buffer.from([3, 0, 27]));
  });

  it.each([
    [0, false, false],
    [1, true, true],
    [2, false, true],
    [3, true, false],
    [0x11, true, true],
  ])('registered_delivery %i asks for DELIVRD: %s, for UNDELIV: %s', (requested, delivered, undelivered) => {
    expect(wantsReceipt(requested, 'DELIVRD')).toBe(delivered);
    expect(wantsReceipt(requested, 'UNDELIV')).toBe(undelivered);
  });
});
