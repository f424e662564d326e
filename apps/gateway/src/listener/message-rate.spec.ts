import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dataSm, octetsTlv, submitSm } from '@countersign/smpp/pdu';
import { MessageRate, shareOfRate, tokensOf } from './message-rate.js';

function accepted(rate: MessageRate, nowMs: number, asked: number): number {
  let count = 0;
  for (let n = 0; n < asked; n++) if (rate.takeTokens(nowMs, 1)) count += 1;
  return count;
}

describe('the message rate of a system', () => {
  it('allows a burst of one second of messages, then messages at the rate', () => {
    const rate = new MessageRate(10, 0);
    expect(accepted(rate, 0, 50)).toBe(10);
    expect(accepted(rate, 300, 50)).toBe(3);
    expect(accepted(rate, 350, 50)).toBe(0);
    expect(accepted(rate, 400, 50)).toBe(1);
    expect(accepted(rate, 60_000, 50)).toBe(10);
  });

  it('has no limit until one is set, and follows a changed limit', () => {
    const rate = new MessageRate(Infinity, 0);
    expect(accepted(rate, 0, 1_000)).toBe(1_000);
    rate.setLimit(5, 0);
    expect(accepted(rate, 0, 1_000)).toBe(5);
    rate.setLimit(20, 1_000);
    expect(accepted(rate, 1_000, 1_000)).toBe(5);
    rate.setLimit(Infinity, 1_000);
    expect(accepted(rate, 1_000, 1_000)).toBe(1_000);
  });

  it('counts a long text as its started 255 octets: it is accepted, and delays the next message', () => {
    const rate = new MessageRate(10, 0);
    expect(rate.takeTokens(0, 30)).toBe(true);
    expect(accepted(rate, 2_000, 1)).toBe(0);
    expect(accepted(rate, 2_100, 2)).toBe(1);
  });

  it.each([
    [0, 1],
    [1, 1],
    [255, 1],
    [256, 2],
    [65_000, 255],
  ])('counts a text of %i octets as %i', (octets, tokens) => {
    const payload = octetsTlv('message_payload', Buffer.alloc(octets));
    expect(tokensOf({ ...dataSm({ esmClass: 0x04 }, [payload]), sequence: 1 })).toBe(tokens);
    expect(tokensOf({ ...submitSm({}, [payload]), sequence: 1 })).toBe(tokens);
  });

  it('is exceeded by at most the burst of one second', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 100 })));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), steps, (perSecond, all) => {
        const rate = new MessageRate(perSecond, 0);
        let nowMs = 0;
        let count = 0;
        for (const [laterMs, asked] of all) {
          nowMs += laterMs;
          count += accepted(rate, nowMs, asked);
          expect(count).toBeLessThanOrEqual(perSecond * (1 + nowMs / 1_000) + 1e-6);
        }
      }),
    );
  });
});

describe('the rate share of a gateway', () => {
  it.each([
    [100, 1, 0, 100],
    [100, 1, 1, 50],
    [100, 1, 3, 25],
    [100, 3, 1, 75],
    [null, 1, 3, Infinity],
  ])('of %s a second with %s connections here and %s elsewhere is %s', (perSecond, here, elsewhere, share) => {
    expect(shareOfRate(perSecond, here, elsewhere)).toBe(share);
  });
});
