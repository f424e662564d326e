import type { Tenant } from '@countersign/keys';
import { describe, expect, it } from 'vitest';
import { AccountConnectionQuota, SubscriptionPlaces } from './account-connection-quota.js';

const live = (accountId: string): Tenant => ({ accountId, mode: 'live' });
const test = (accountId: string): Tenant => ({ accountId, mode: 'test' });

/** What each account gets when all ask for `wish` connections, one after the other. */
function shared(most: number, wishes: readonly (readonly [account: string, wish: number])[]): number[] {
  const places = new AccountConnectionQuota(most);
  let open = 0;
  return wishes.map(([account, wish]) => {
    let got = 0;
    for (let nth = 0; nth < wish; nth += 1) {
      if (!places.roomBeside(open) || !places.roomFor(live(account), open)) continue;
      places.enter(live(account));
      open += 1;
      got += 1;
    }
    return got;
  });
}

describe('the places of a process', () => {
  it('go to one account while there are plenty, but for the last fifth', () => {
    expect(shared(15_000, [['a', 10_000]])).toEqual([10_000]);
    expect(shared(15_000, [['a', 99_999]])).toEqual([12_000]);
  });

  it('are kept for those that have few, a fifteenth each', () => {
    const wishes = [
      ['a', 99_999],
      ['b', 99_999],
      ['c', 500],
      ['a', 1],
      ['d', 99_999],
      ['e', 99_999],
      ['f', 1],
    ] as const;
    expect(shared(15_000, wishes)).toEqual([12_000, 1_000, 500, 0, 1_000, 500, 0]);
  });

  it('are free again when they are left', () => {
    const places = new AccountConnectionQuota(15);
    places.enter(live('a'));
    expect(places.roomFor(live('a'), 12)).toBe(false);
    expect(places.roomFor(live('b'), 12)).toBe(true);
    places.leave(live('a'));
    expect(places.roomFor(live('a'), 12)).toBe(true);
  });

  it('that a test key takes are not taken from the live keys of its account', () => {
    const places = new AccountConnectionQuota(15);
    for (let open = 0; open < 12; open += 1) places.enter(test('a'));
    expect(places.roomFor(test('a'), 12)).toBe(false);
    expect(places.roomFor(live('a'), 12)).toBe(true);
  });
});

describe('the subscriptions of a process', () => {
  it('are so many for each account and mode, and free again when they are left', () => {
    const places = new SubscriptionPlaces(2);
    places.enter(live('a'));
    places.enter(live('a'));
    expect([live('a'), test('a'), live('b')].map((tenant) => places.roomFor(tenant))).toEqual([false, true, true]);
    places.leave(live('a'));
    expect(places.roomFor(live('a'))).toBe(true);
  });
});
