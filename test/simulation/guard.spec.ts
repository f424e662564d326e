import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderGuardPage } from './guard-page.js';
import { grow, pump, PUMPING_RUNS, pumpWithOwnPhones, share, DEFAULTS } from './scenarios.js';
import { SimulatedGuard, type SimulatedSession } from './simulated-guard.js';
import { BEGIN_MS, DAY_MS, HOUR_MS, mostOnADay, mostWithin, phoneOf } from './traffic.js';

const PAGE = '../../apps/control-plane/src/docs/pages/guard.md';
const TIMEOUT_MS = 60_000;

const pumped = PUMPING_RUNS.map((run, at) => ({ name: run.name, sent: pump(run, at + 1) }));
const ownPhones = [0, 1, 5, 10, 25, 50].map((phones) => ({
  phones,
  elsewhere: pumpWithOwnPhones(phones, false),
  everywhere: pumpWithOwnPhones(phones, true),
}));
const grown = grow(11);
const shared = [0, 1, 5, 25].map((perSecond) => ({ perSecond, run: share(perSecond, 17) }));

describe('a pumper who never approves', () => {
  it.each(pumped)('$name: at most 60 codes in any hour and 60 on any day', ({ sent }) => {
    expect(sent.length).toBeGreaterThan(0);
    expect(mostWithin(sent, HOUR_MS)).toBeLessThanOrEqual(60);
    expect(mostOnADay(sent)).toBeLessThanOrEqual(60);
  });

  it(
    'no sequence of times, blocks, countries, phones and sends in one session gets more',
    () => {
      const attempt = fc.record({
        // Mostly no time; sometimes up to another hour, or past midnight.
        waitMs: fc.oneof(
          { weight: 20, arbitrary: fc.nat({ max: 2_000 }) },
          { weight: 2, arbitrary: fc.nat({ max: HOUR_MS + 120_000 }) },
          { weight: 1, arbitrary: fc.nat({ max: DAY_MS / 4 }) },
        ),
        country: fc.nat({ max: 5 }),
        block: fc.nat({ max: 400 }),
        phone: fc.nat({ max: 50 }),
        again: fc.boolean(),
      });
      fc.assert(
        fc.property(fc.array(attempt, { minLength: 100, maxLength: 600, size: 'max' }), (attempts) => {
          const guard = new SimulatedGuard(DEFAULTS);
          const sent: number[] = [];
          let nowMs = BEGIN_MS + 22 * HOUR_MS;
          let session: SimulatedSession = { phone: phoneOf(0, 0, 0), sentMs: [] };
          for (const { waitMs, country, block, phone, again } of attempts) {
            nowMs += waitMs;
            if (!again) session = { phone: phoneOf(country, block, phone), sentMs: [] };
            if (guard.send(session, nowMs) === null) sent.push(nowMs);
          }
          expect(mostWithin(sent, HOUR_MS)).toBeLessThanOrEqual(60);
          expect(mostOnADay(sent)).toBeLessThanOrEqual(60);
        }),
        { numRuns: 60 },
      );
    },
    TIMEOUT_MS,
  );
});

describe('a pumper who approves with phones of his own', () => {
  it.each(ownPhones)('$phones phones: 4 codes a day to numbers elsewhere for each', ({ phones, elsewhere }) => {
    expect(elsewhere).toBeLessThanOrEqual(60 + 4 * phones);
  });

  it.each(ownPhones)('$phones phones: at most 5 more for each to the blocks of their own', ({ phones, everywhere }) => {
    expect(everywhere).toBeLessThanOrEqual(60 + 9 * phones);
  });

  it(
    'no sequence of own approvals buys more',
    () => {
      const step = fc.record({
        waitMs: fc.oneof(
          { weight: 20, arbitrary: fc.nat({ max: 2_000 }) },
          { weight: 1, arbitrary: fc.nat({ max: HOUR_MS }) },
        ),
        own: fc.option(fc.nat({ max: 4 }), { freq: 4 }),
        country: fc.nat({ max: 5 }),
        block: fc.nat({ max: 30 }),
        phone: fc.integer({ min: 10, max: 60 }),
        withCode: fc.boolean(),
      });
      fc.assert(
        fc.property(fc.array(step, { minLength: 100, maxLength: 800, size: 'max' }), (steps) => {
          const guard = new SimulatedGuard(DEFAULTS);
          const sent: number[] = [];
          const approvers = new Map<number, Set<number>>();
          let nowMs = BEGIN_MS + 20 * HOUR_MS;
          for (const { waitMs, own, country, block, phone, withCode } of steps) {
            nowMs += waitMs;
            const session: SimulatedSession = { phone: phoneOf(country, block, phone), sentMs: [] };
            if (own === null) {
              if (guard.send(session, nowMs) === null) sent.push(nowMs);
              continue;
            }
            const mine: SimulatedSession = { phone: phoneOf(own, own, own), sentMs: [] };
            if (withCode) guard.send(mine, nowMs);
            guard.approve(mine, nowMs);
            const day = Math.floor(nowMs / DAY_MS);
            approvers.set(day, (approvers.get(day) ?? new Set()).add(own));
          }
          for (const day of new Set(sent.map((atMs) => Math.floor(atMs / DAY_MS)))) {
            const codes = sent.filter((atMs) => Math.floor(atMs / DAY_MS) === day).length;
            expect(codes).toBeLessThanOrEqual(60 + 9 * (approvers.get(day)?.size ?? 0));
          }
        }),
        { numRuns: 60 },
      );
    },
    TIMEOUT_MS,
  );
});

describe('an honest account', () => {
  it('that grows tenfold within an hour is never refused', () => {
    expect(grown.reduce((sum, { sends }) => sum + sends, 0)).toBeGreaterThan(40_000);
    expect(grown.map(({ refused }) => refused)).toEqual([0, 0, 0, 0]);
  });

  it.each(shared)('whose page is pumped $perSecond times a second loses under 1 % of phones seen before', ({ run }) => {
    expect(run.known.sends).toBeGreaterThan(5_000);
    expect(run.known.refused).toBeLessThan(0.01 * (run.known.refused + run.known.sends));
  });

  it('and loses no new phone while nobody pumps', () => {
    expect(shared[0]?.run.fresh.refused).toBe(0);
  });
});

/** Generated by `npx vitest run -c config/tooling/vitest.config.ts --project small test/simulation -u`. */
it('the page of the guard shows these figures', async () => {
  await expect(renderGuardPage({ pumped, ownPhones, grown, shared })).toMatchFileSnapshot(PAGE);
});
