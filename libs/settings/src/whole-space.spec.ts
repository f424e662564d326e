import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coverWholeSpace } from './whole-space.js';

/** The space cut into parts: each split turns one range into its two halves. */
function parts(splits: readonly number[]): readonly (readonly [first: bigint, length: number])[] {
  const cut: (readonly [bigint, number])[] = [[0n, 0]];
  for (const split of splits) {
    const [[first, length] = [0n, 0]] = cut.splice(split % cut.length, 1);
    const half = 1n << BigInt(31 - length);
    cut.push([first, length + 1], [first + half, length + 1]);
  }
  return cut;
}
const dotted = (address: bigint): string => [24n, 16n, 8n, 0n].map((at) => String((address >> at) & 255n)).join('.');

describe('address ranges', () => {
  it.each([
    [['0.0.0.0/0']],
    [['::/0']],
    [['10.0.0.0/8', '0.0.0.0/0']],
    [['0.0.0.0/1', '128.0.0.0/1']],
    [['128.0.0.0/1', '64.0.0.0/2', '0.0.0.0/2']],
    [['10.0.0.0/8', '::/1', '8000::/1']],
    [['203.0.113.7/0']],
  ])('%j hold every address', (cidrs) => expect(coverWholeSpace(cidrs)).toBe(true));

  it.each([
    [[]],
    [['0.0.0.0/1']],
    [['0.0.0.0/1', '::/1']],
    [['10.0.0.0/8', 'fd00::/8']],
    [['128.0.0.0/1', '64.0.0.0/2', '0.0.0.0/3']],
    [['::ffff:0:0/96']],
  ])('%j leave some out', (cidrs) => expect(coverWholeSpace(cidrs)).toBe(false));

  it('hold every address however the space is cut, and not when one part is missing', () => {
    const splits = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(splits, fc.nat(1_000), (cuts, missing) => {
        const cidrs = parts(cuts).map(([first, length]) => `${dotted(first)}/${length}`);
        expect(coverWholeSpace(cidrs)).toBe(true);
        expect(coverWholeSpace(cidrs.filter((_, at) => at !== missing % cidrs.length))).toBe(false);
      }),
    );
  });
});
