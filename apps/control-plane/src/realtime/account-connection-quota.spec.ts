import type { Tenant } from '@countersign/keys';
import { describe, expect, it } from 'vitest';
import { AccountConnectionQuota, SubscriptionQuota } from './account-connection-quota.js';

const live = (accountId: string): Tenant => ({ accountId, mode: 'live' });
const test = (accountId: string): Tenant => ({ accountId, mode: 'test' });

/** Connections that each account gets when each requests `wish`, one account after the other. */
function shared(most: number, wishes: readonly (readonly [account: string, wish: number])[]): number[] {
  const quota = new AccountConnectionQuota(most);
  let open = 0;
  return wishes.map(([account, wish]) => {
    let got = 0;
    for (let nth = 0; nth < wish; nth += 1) {
      if (!quota.hasCapacity(open) || !quota.allows(live(account), open)) continue;
      quota.add(live(account));
      open += 1;
      got += 1;
    }
    return got;
  });
}

describe('the connection quota of a process', () => {
  it('allows one account all connections but the last fifth', () => {
    expect(shared(15_000, [['a', 10_000]])).toEqual([10_000]);
    expect(shared(15_000, [['a', 99_999]])).toEqual([12_000]);
  });

  it('reserves the last connections for accounts with few, a fifteenth each', () => {
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

  it('frees a connection when it is removed', () => {
    const quota = new AccountConnectionQuota(15);
    quota.add(live('a'));
    expect(quota.allows(live('a'), 12)).toBe(false);
    expect(quota.allows(live('b'), 12)).toBe(true);
    quota.remove(live('a'));
    expect(quota.allows(live('a'), 12)).toBe(true);
  });

  it('counts test and live connections of an account separately', () => {
    const quota = new AccountConnectionQuota(15);
    for (let open = 0; open < 12; open += 1) quota.add(test('a'));
    expect(quota.allows(test('a'), 12)).toBe(false);
    expect(quota.allows(live('a'), 12)).toBe(true);
  });
});

describe('the subscription quota of a process', () => {
  it('limits subscriptions per account and mode, and frees them when they are removed', () => {
    const quota = new SubscriptionQuota(2);
    quota.add(live('a'));
    quota.add(live('a'));
    expect([live('a'), test('a'), live('b')].map((tenant) => quota.allows(tenant))).toEqual([false, true, true]);
    quota.remove(live('a'));
    expect(quota.allows(live('a'))).toBe(true);
  });
});
