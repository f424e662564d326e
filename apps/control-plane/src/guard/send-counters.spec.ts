import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PhoneCounters } from './phone-counters.js';
import {
  SendCounters,
  windowKey,
  type CounterState,
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

interface StateDraft {
  readonly sends?: number;
  readonly sums?: WindowSums;
  readonly spendCap?: Micros | null;
  readonly spent?: Micros;
  readonly known?: readonly string[];
}

const countersOf = (sends: number) =>
  new Map(
    [KEYS, OTHER]
      .flatMap(({ phone, phoneEverywhere }) => [phone.hour, phone.day, phoneEverywhere.hour, phoneEverywhere.day])
      .map((key) => [key, { sends, endsAt: SOON }]),
  );

const stateOf = ({ sends = 0, sums, spendCap = null, spent = 0n, known = [] }: StateDraft): CounterState => ({
  accounts: new Map([['a', { countries: ['*'], floor: 50, messageCap: 1_000, spendCap }]]),
  windows: sums === undefined ? new Map() : new Map([[windowKey('a', 'US'), sums]]),
  phones: new PhoneCounters(countersOf(sends), new Map()),
  spent: new Map([['a', spent]]),
  knownPhones: new Set(known),
});

describe('the counters of sends', () => {
  it('give the traffic without the send, but the sends to its phone with it', () => {
    const traffic = new SendCounters(stateOf({ sends: 7, sums: { sends: 9, settled: 2, approvals: 1 } }));
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

  it('sum the counts of one phone under several versions of the master key, until the first window ends', () => {
    const later = new Date(SOON.getTime() + 60_000);
    const counters = new Map([
      ...countersOf(2),
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
    const sendCounters = new SendCounters({ ...stateOf({}), phones: new PhoneCounters(counters, others) });
    sendCounters.addSend(KEYS);
    expect(sendCounters.trafficWith(KEYS)).toMatchObject({
      phone: { hour: { sends: 7, endsAt: SOON }, day: { sends: 4, endsAt: SOON } },
      phoneEverywhere: { hour: { sends: 4, endsAt: SOON }, day: { sends: 9, endsAt: SOON } },
    });
    const countOf = new Map(sendCounters.counters().map(({ key, sends }) => [key, sends]));
    expect([countOf.get(KEYS.phone.hour), countOf.get(OTHER.phone.hour)]).toEqual([3, 3]);
  });

  it('include added sends in the traffic of the next send, and of another phone only in the shared counters', () => {
    const sendCounters = new SendCounters(stateOf({ known: ['a:q'] }));
    sendCounters.addSend(KEYS);
    sendCounters.addSend(KEYS);
    const two = { sends: 2, unconverted: 2, approvals: 0 };
    expect(sendCounters.trafficWith(KEYS)).toMatchObject({
      ...{ account: two, country: two, block: two, day: two },
      phone: { day: { sends: 3 } },
      phoneEverywhere: { hour: { sends: 3 } },
    });
    expect(sendCounters.trafficWith(OTHER)).toMatchObject({
      account: two,
      phone: { hour: { sends: 1 } },
      knownPhone: true,
    });
    expect(sendCounters.counters().filter(({ sends }) => sends === 0)).toHaveLength(4);
    expect(sendCounters.payments()).toEqual([{ accountId: 'a', micros: 20_000n }]);
  });

  it.each<readonly [string, bigint | null, bigint, bigint | null, string]>([
    ['no cap', null, 10n ** 14n, 1n, 'within'],
    ['no cap and no price', null, 0n, null, 'within'],
    ['a cap and no price', 30_000n, 0n, null, 'no_price'],
    ['a price of exactly the rest', 30_000n, 20_000n, 10_000n, 'within'],
    ['a price of a millionth more than the rest', 30_000n, 20_001n, 10_000n, 'over'],
    ['nothing left, and a price of 0', 30_000n, 30_000n, 0n, 'over'],
    ['something left, and a price of 0', 30_000n, 29_999n, 0n, 'within'],
    ['a cap of 0', 0n, 0n, 0n, 'over'],
  ])('%s', (_, spendCap, spent, price, expected) => {
    expect(new SendCounters(stateOf({ spendCap, spent })).trafficWith({ ...KEYS, price }).spend).toBe(expected);
  });

  it('never allow more spending than the cap', () => {
    const micros = fc.bigInt({ min: 0n, max: 1_000_000n });
    fc.assert(
      fc.property(micros, fc.array(micros, { maxLength: 40 }), (spendCap, prices) => {
        const sendCounters = new SendCounters(stateOf({ spendCap }));
        for (const price of prices) {
          if (sendCounters.trafficWith({ ...KEYS, price }).spend === 'within') sendCounters.addSend({ ...KEYS, price });
        }
        const paid = sendCounters.payments().reduce((sum, payment) => sum + payment.micros, 0n);
        expect(paid <= spendCap).toBe(true);
      }),
    );
  });
});
