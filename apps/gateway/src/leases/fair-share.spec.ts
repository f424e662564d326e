import { slotKey, type LeaseSurvey, type SurveyedSlot } from '@countersign/carriers/leases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slotsToClaim, slotToHandOver } from './fair-share.js';

const slot = (bindId: string, number: number, owner: string | null = null): SurveyedSlot => ({
  bindId,
  slot: number,
  owner,
  leftMs: owner === null ? null : 9_000,
});
const heldBy = ({ slots }: LeaseSurvey, self: string): Set<string> =>
  new Set(slots.filter(({ owner }) => owner === self).map(slotKey));
const claimed = (survey: LeaseSurvey, self: string, unclaimed: readonly string[] = []): string[] =>
  slotsToClaim({ self, survey, mine: heldBy(survey, self), unclaimed: new Set(unclaimed) }).map(slotKey);
const handedOver = (survey: LeaseSurvey, self: string): string | null => {
  const name = slotToHandOver({ self, survey, mine: heldBy(survey, self) });
  return name === null ? null : slotKey(name);
};

describe('the connections to claim', () => {
  it('are all connections for a single gateway', () => {
    const slots = [slot('a', 0), slot('a', 1), slot('b', 0)];
    expect(claimed({ gateways: ['g1'], slots }, 'g1')).toEqual(['a/0', 'b/0', 'a/1']);
  });

  it('are its share, rounded up, when there are other gateways', () => {
    const slots = [slot('a', 0), slot('b', 0), slot('c', 0)];
    expect(claimed({ gateways: ['g1', 'g2'], slots }, 'g1')).toHaveLength(2);
  });

  it('start at a different position for each gateway', () => {
    const survey = { gateways: ['g1', 'g2'], slots: ['a', 'b', 'c', 'd'].map((bindId) => slot(bindId, 0)) };
    expect([...claimed(survey, 'g1'), ...claimed(survey, 'g2')].sort()).toEqual(['a/0', 'b/0', 'c/0', 'd/0']);
  });

  it('belong to the bind of which the gateway holds the fewest', () => {
    const slots = [slot('a', 0, 'g1'), slot('a', 1), slot('b', 0), slot('b', 1, 'g2')];
    expect(claimed({ gateways: ['g1', 'g2'], slots }, 'g1')).toEqual(['b/0']);
  });

  it('exceed the share only by connections that stayed unclaimed', () => {
    const slots = [slot('a', 0, 'g1'), slot('b', 0)];
    const survey = { gateways: ['g1', 'g2'], slots };
    expect(claimed(survey, 'g1')).toEqual([]);
    expect(claimed(survey, 'g1', ['b/0'])).toEqual(['b/0']);
  });

  it('include connections that the gateway owns but no longer tracks', () => {
    const survey = { gateways: ['g1'], slots: [slot('a', 0, 'g1')] };
    const facts = { self: 'g1', survey, mine: new Set<string>(), unclaimed: new Set<string>() };
    expect(slotsToClaim(facts).map(slotKey)).toEqual(['a/0']);
  });
});

describe('the connection to hand over', () => {
  it('is null while all gateways have their share, or a connection is free', () => {
    const even = [slot('a', 0, 'g1'), slot('b', 0, 'g2'), slot('c', 0, 'g1')];
    expect(handedOver({ gateways: ['g1', 'g2'], slots: even }, 'g1')).toBe(null);
    const free = [slot('a', 0, 'g1'), slot('b', 0, 'g1'), slot('c', 0)];
    expect(handedOver({ gateways: ['g1', 'g2'], slots: free }, 'g1')).toBe(null);
  });

  it('belongs to the bind of which the gateway holds the most', () => {
    const slots = [slot('a', 0, 'g1'), slot('a', 1, 'g1'), slot('b', 0, 'g1'), slot('c', 0, 'g1')];
    expect(handedOver({ gateways: ['g1', 'g2'], slots }, 'g1')).toBe('a/1');
  });

  it('leads to no gateway above its share and no free connection, from any distribution', () => {
    const distribution = fc.record({
      gateways: fc.integer({ min: 1, max: 5 }).map((count) => Array.from({ length: count }, (_, at) => `g${at}`)),
      owners: fc.array(fc.nat(4), { maxLength: 20 }),
    });
    fc.assert(
      fc.property(distribution, ({ gateways, owners }) => {
        let slots = owners.map((owner, at) => slot(`b${at % 4}`, at, gateways[owner % gateways.length] ?? null));
        for (let round = 0; round <= owners.length * 2; round++) {
          for (const self of gateways) {
            const name = slotToHandOver({ self, survey: { gateways, slots }, mine: heldBy({ gateways, slots }, self) });
            if (name === null) continue;
            slots = slots.map((one) => (slotKey(one) === slotKey(name) ? slot(one.bindId, one.slot) : one));
            for (const taker of gateways) {
              const taken = new Set(claimed({ gateways, slots }, taker));
              slots = slots.map((one) => (taken.has(slotKey(one)) ? slot(one.bindId, one.slot, taker) : one));
            }
          }
        }
        const counts = gateways.map((self) => heldBy({ gateways, slots }, self).size);
        expect(Math.max(...counts)).toBeLessThanOrEqual(Math.ceil(slots.length / gateways.length));
        expect(slots.every(({ owner }) => owner !== null)).toBe(true);
      }),
    );
  });
});
