import { describe, expect, it } from 'vitest';
import { isReceipt } from './receipt.js';

describe('receipts', () => {
  it.each([0x04, 0x20, 0x44, 0x07, 0xe0, 0xc4])('knows esm_class %i for a report of the carrier', (esmClass) => {
    expect(isReceipt(esmClass)).toBe(true);
  });

  it.each([0x00, 0x03, 0x40, 0x80, 0xc0, 0x08, 0x10, 0x18])('takes esm_class %i for something a phone sent', (esmClass) => {
    expect(isReceipt(esmClass)).toBe(false);
  });
});
