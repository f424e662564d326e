import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  SendCounters,
  windowKey,
  type LedgerPages,
  type Micros,
  type SendKeys,
  type WindowSums,
} from './send-counters.js';

const SOON = new Date('2024-05-01T12:40:00Z');
const KEYS: SendKeys = {
  accountId: 'a',
  country: 'US',
  block: '+1415555',
  phone: { hour: 'account-phone-hour a:p', day: 'account-phone-day a:p' },
  phoneEverywhere: { hour: 'phone-hour p', day: 'phone-day p' },
  phoneKey: 'a:p',
  price: 10_000n,
};
const OTHER: SendKeys = {
  ...KEYS,
  phone: { hour: 'account-phone-hour a:q', day: 'account-phone-day a:q' },
  phoneEverywhere: { hour: 'phone-hour q', day: 'phone-day q' },
  phoneKey: 'a:q',
};

interface Read {
  readonly sends?: number;
  readonly sums?: WindowSums;
  readonly spendCap?: Micros | null;
  readonly spent?: Micros;
  readonly known?: readonly string[];
}

const pagesOf = ({ sends = 0, sums, spendCap = null, spent = 0n, known = [] }: Read): LedgerPages => ({
  accounts: new Map([['a', { countries: ['*'], floor: 50, messageCap: 1_000, spendCap }]]),
  windows: sums === undefined ? new Map() : new Map([[windowKey('a', 'US'), sums]]),
  counters: new Map(
    [KEYS, OTHER]
      .flatMap(({ phone, phoneEverywhere }) => [phone.hour, phone.day, phoneEverywhere.hour, phoneEverywhere.day])
      .map((key) => [key, { sends, endsAt: SOON }]),
  ),
  others: new Map(),
  spent: new Map([['a', spent]]),
  knownPhones: new Set(known),
});

describe('a ledger', () => {
  it('shows the traffic without the send, and the sends to its phone with it', () => {
    const traffic = new SendCounters(pagesOf({ sends: 7, sums: { sends: 9, settled: 2, approvals: 1 } }));
    expect(traffic.trafficWith(KEYS)).toMatchObject({
      country: { sends: 9, unconverted: 7, approvals: 1 },
      account: { sends: 0, unconverted: 0, approvals: 0 },
      phone: { hour: { sends: 8, endsAt: SOON }, day: { sends: 8, endsAt: SOON } },
      floor: 50,
      messageCap: 1_000,
      knownPhone: false,
      spend: 'within',
    });
  });

  it('adds up what was counted for one phone under several versions of the master key, until the first window ends', () => {
    const later = new Date(SOON.getTime() + 60_000);
    const pages = pagesOf({ sends: 2 });
    const counters = new Map([
      ...pages.counters,
      [KEYS.phone.hour, { sends: 2, endsAt: later }],
      [OTHER.phone.hour, { sends: 3, endsAt: SOON }],
      [OTHER.phone.day, { sends: 0, endsAt: new Date(0) }],
      [OTHER.phoneEverywhere.day, { sends: 5, endsAt: SOON }],
    ]);
    const others = new Map([
      [KEYS.phone.hour, [OTHER.phone.hour]],
      [KEYS.phone.day, [OTHER.phone.day]],
      [KEYS.phoneEverywhere.day, [OTHER.phoneEverywhere.day]],
    ]);
    const ledger = new SendCounters({ ...pages, counters, others });
    ledger.enter(KEYS);
    expect(ledger.trafficWith(KEYS)).toMatchObject({
      phone: { hour: { sends: 7, endsAt: SOON }, day: { sends: 4, endsAt: SOON } },
      phoneEverywhere: { hour: { sends: 4, endsAt: SOON }, day: { sends: 9, endsAt: SOON } },
    });
    const written = new Map(ledger.counters().map(({ key, sends }) => [key, sends]));
    expect([written.get(KEYS.phone.hour), written.get(OTHER.phone.hour)]).toEqual([3, 3]);
  });

  it('shows the next send those that were entered, and to another phone only what they share', () => {
    const ledger = new SendCounters(pagesOf({ known: ['a:q'] }));
    ledger.enter(KEYS);
    ledger.enter(KEYS);
    const two = { sends: 2, unconverted: 2, approvals: 0 };
    expect(ledger.trafficWith(KEYS)).toMatchObject({
      ...{ account: two, country: two, block: two, day: two },
      phone: { day: { sends: 3 } },
      phoneEverywhere: { hour: { sends: 3 } },
    });
    expect(ledger.trafficWith(OTHER)).toMatchObject({ account: two, phone: { hour: { sends: 1 } }, knownPhone: true });
    expect(ledger.counters().filter(({ sends }) => sends === 0)).toHaveLength(4);
    expect(ledger.payments()).toEqual([{ accountId: 'a', micros: 20_000n }]);
  });

  it.each<readonly [string, bigint | null, bigint, bigint | null, string]>([
    ['no cap', null, 10n ** 14n, 1n, 'within'],
    ['no cap and no price', null, 0n, null, 'within'],
    ['a cap and no price', 30_000n, 0n, null, 'no_price'],
    ['exactly as much as is left', 30_000n, 20_000n, 10_000n, 'within'],
    ['a millionth more than is left', 30_000n, 20_001n, 10_000n, 'over'],
    ['nothing left, and a price of nothing', 30_000n, 30_000n, 0n, 'over'],
    ['something left, and a price of nothing', 30_000n, 29_999n, 0n, 'within'],
    ['a cap of nothing', 0n, 0n, 0n, 'over'],
  ])('%s', (_, spendCap, spent, price, expected) => {
    expect(new SendCounters(pagesOf({ spendCap, spent })).trafficWith({ ...KEYS, price }).spend).toBe(expected);
  });

  it('never lets more be spent than the cap, in whatever steps', () => {
    const micros = fc.bigInt({ min: 0n, max: 1_000_000n });
    fc.assert(
      fc.property(micros, fc.array(micros, { maxLength: 40 }), (spendCap, prices) => {
        const ledger = new SendCounters(pagesOf({ spendCap }));
        for (const price of prices) {
          if (ledger.trafficWith({ ...KEYS, price }).spend === 'within') ledger.enter({ ...KEYS, price });
        }
        const paid = ledger.payments().reduce((sum, payment) => sum + payment.micros, 0n);
        expect(paid <= spendCap).toBe(true);
      }),
    );
  });
});
