import { describe, expect, it } from 'vitest';
import { mergeCaptures } from './captures.js';

const HEADER = Buffer.from('a1b2c3d40002000400000000000000000000ffff00000065', 'hex');

function packet(atMicros: number, text: string): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt32BE(Math.floor(atMicros / 1_000_000), 0);
  head.writeUInt32BE(atMicros % 1_000_000, 4);
  head.writeUInt32BE(text.length, 8);
  head.writeUInt32BE(text.length, 12);
  return Buffer.concat([head, Buffer.from(text)]);
}

const capture = (...packets: readonly Buffer[]): Buffer => Buffer.concat([HEADER, ...packets]);

describe('capture files of several gateways', () => {
  const [one, two, three, four] = [
    packet(999_999, 'one'),
    packet(1_000_000, 'two'),
    packet(1_000_001, ''),
    packet(5e6, 'four'),
  ];

  it('are merged in the order of time', () => {
    expect(mergeCaptures([capture(two, four), capture(), capture(one, three)])).toEqual(capture(one, two, three, four));
  });

  it('are unchanged when there is only one', () => {
    expect(mergeCaptures([capture(one, two)])).toEqual(capture(one, two));
  });

  it('lose truncated packets only', () => {
    const cut = capture(one, two);
    for (let length = HEADER.length + one.length; length < cut.length; length++) {
      expect(mergeCaptures([cut.subarray(0, length), capture(four)])).toEqual(capture(one, four));
    }
  });
});
