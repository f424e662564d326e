import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TrafficLedger, type LedgerPages, type Slots, type Spend } from './traffic-ledger.js';

const SOON = new Date('2024-05-01T12:40:00Z');
const SLOTS: Slots = {
  account: 'account a',
  country: 'country a:US',
  phoneHour: 'phone-hour p',
  phoneDay: 'phone-day p',
  prefix: 'a:+1415555',
  purse: 'a',
  price: 10_000n,
};
const pagesOf = (sends: number, spend?: Spend): LedgerPages => ({
  counters: new Map(
    [SLOTS.account, SLOTS.country, SLOTS.phoneHour, SLOTS.phoneDay, 'phone-hour q', 'phone-day q'].map((key) => [
      key,
      { sends, endsAt: SOON },
    ]),
  ),
  others: new Map(),
  conversions: new Map([[SLOTS.prefix, { unconverted: 3, recent: 4, recentApproved: 1 }]]),
  spends: spend === undefined ? new Map() : new Map([[SLOTS.purse, spend]]),
});

describe('a ledger', () => {
  it('shows the traffic with one send more, and without it what was sent to its block of numbers', () => {
    const one = { sends: 8, endsAt: SOON };
    expect(new TrafficLedger(pagesOf(7)).trafficWith(SLOTS)).toEqual({
      account: one,
      country: one,
      phoneHour: one,
      phoneDay: one,
      prefix: { unconverted: 3, recent: 4, recentApproved: 1 },
      withinSpendCap: true,
    });
  });

  it('adds up what was counted for one phone under several versions of the master key, until the first window ends', () => {
    const later = new Date(SOON.getTime() + 60_000);
    const pages = pagesOf(2);
    const counters = new Map([
      ...pages.counters,
      [SLOTS.phoneHour, { sends: 2, endsAt: later }],
      ['phone-hour q', { sends: 3, endsAt: SOON }],
      ['phone-day q', { sends: 0, endsAt: new Date(0) }],
    ]);
    const others = new Map([
      [SLOTS.phoneHour, ['phone-hour q']],
      [SLOTS.phoneDay, ['phone-day q']],
    ]);
    const ledger = new TrafficLedger({ ...pages, counters, others });
    ledger.enter(SLOTS);
    expect(ledger.trafficWith(SLOTS)).toMatchObject({
      phoneHour: { sends: 7, endsAt: SOON },
      phoneDay: { sends: 4, endsAt: SOON },
    });
    const written = new Map(ledger.counters().map(({ key, sends }) => [key, sends]));
    expect([written.get(SLOTS.phoneHour), written.get('phone-hour q')]).toEqual([3, 3]);
  });

  it('shows the next send those that were entered, and to another phone only what they share', () => {
    const ledger = new TrafficLedger(pagesOf(0));
    ledger.enter(SLOTS);
    ledger.enter(SLOTS);
    expect(ledger.trafficWith(SLOTS)).toMatchObject({
      phoneDay: { sends: 3 },
      prefix: { unconverted: 5, recent: 6, recentApproved: 1 },
    });
    const other = { ...SLOTS, phoneHour: 'phone-hour q', phoneDay: 'phone-day q' };
    expect(ledger.trafficWith(other)).toMatchObject({ account: { sends: 3 }, phoneHour: { sends: 1 } });
    expect(ledger.counters().filter(({ sends }) => sends === 0)).toHaveLength(2);
    expect(ledger.payments()).toEqual([{ purse: 'a', micros: 20_000n }]);
  });

  it.each<readonly [string, bigint | null, bigint, bigint, boolean]>([
    ['no cap', null, 10n ** 14n, 1n, true],
    ['exactly as much as is left', 30_000n, 20_000n, 10_000n, true],
    ['a millionth more than is left', 30_000n, 20_001n, 10_000n, false],
    ['nothing left, and a price of nothing', 30_000n, 30_000n, 0n, false],
    ['something left, and a price of nothing', 30_000n, 29_999n, 0n, true],
    ['a cap of nothing', 0n, 0n, 0n, false],
  ])('%s', (_, cap, spent, price, within) => {
    const ledger = new TrafficLedger(pagesOf(0, { cap, spent }));
    expect(ledger.trafficWith({ ...SLOTS, price }).withinSpendCap).toBe(within);
  });

  it('never lets more be spent than the cap, in whatever steps', () => {
    const micros = fc.bigInt({ min: 0n, max: 1_000_000n });
    fc.assert(
      fc.property(micros, fc.array(micros, { maxLength: 40 }), (cap, prices) => {
        const ledger = new TrafficLedger(pagesOf(0, { cap, spent: 0n }));
        for (const price of prices) {
          if (ledger.trafficWith({ ...SLOTS, price }).withinSpendCap) ledger.enter({ ...SLOTS, price });
        }
        const paid = ledger.payments().reduce((sum, payment) => sum + payment.micros, 0n);
        expect(paid <= cap).toBe(true);
      }),
    );
  });
});
