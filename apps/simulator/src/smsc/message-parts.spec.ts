import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gsmSeptets } from '@countersign/text';
import { splitMessage } from './message-parts.js';

describe('the segments of a message', () => {
  it('is one GSM segment of up to 160 septets, without a header', () => {
    expect(splitMessage('a'.repeat(160), 7)).toEqual([{ text: 'a'.repeat(160), dataCoding: 0, udh: null }]);
  });

  it('is two parts from 161 septets on, numbered in a header', () => {
    const parts = splitMessage('a'.repeat(161), 7);
    expect(parts?.map(({ text }) => text.length)).toEqual([153, 8]);
    expect(parts?.map(({ udh }) => udh?.toString('hex'))).toEqual(['050003070201', '050003070202']);
  });

  it('counts an escaped character twice and never cuts it', () => {
    const parts = splitMessage(`${'a'.repeat(152)}€${'b'.repeat(10)}`, 1);
    expect(parts?.map(({ text }) => text)).toEqual(['a'.repeat(152), `€${'b'.repeat(10)}`]);
  });

  it('is UCS-2 as soon as one character needs it, and never cuts a surrogate pair', () => {
    const parts = splitMessage(`${'я'.repeat(66)}😀${'я'.repeat(10)}`, 1);
    expect(parts?.map(({ dataCoding }) => dataCoding)).toEqual([8, 8]);
    expect(parts?.[1]?.text.startsWith('😀')).toBe(true);
  });

  it('takes an empty message', () => {
    expect(splitMessage('', 1)).toEqual([{ text: '', dataCoding: 0, udh: null }]);
  });

  it('refuses a text of more than 255 parts', () => {
    expect(splitMessage('a'.repeat(153 * 255), 1)).toHaveLength(255);
    expect(splitMessage('a'.repeat(153 * 255 + 1), 1)).toBeNull();
  });

  it('keeps every character, and no part is too long, for every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), fc.nat(), (text, reference) => {
        const parts = splitMessage(text, reference) ?? [];
        expect(parts.map((part) => part.text).join('')).toBe(text);
        for (const part of parts) {
          const size = part.dataCoding === 0 ? (gsmSeptets(part.text) ?? Infinity) : part.text.length;
          const limits = part.dataCoding === 0 ? [160, 153] : [70, 67];
          expect(size).toBeLessThanOrEqual(limits[part.udh === null ? 0 : 1] ?? 0);
        }
      }),
    );
  });
});
