import { DestinationStore } from '@countersign/carriers/destinations';
import type { Uuid } from '@countersign/ids';
import { DataError } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';

const PHONE = '+447911123456';
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

let harness: SessionHarness;
let store: DestinationStore;

beforeAll(async () => {
  harness = await openSessionHarness();
  store = new DestinationStore(harness.clock);
});
afterAll(() => harness.close());

const now = (): Date => new Date(harness.clock.nowMs());

async function otherAccount(): Promise<Uuid> {
  const { account } = await harness.accounts.createAccount(harness.database, { name: 'Other' });
  return account.id;
}

describe('an admin’s rule', () => {
  it('is made, found, changed and taken away', async () => {
    const made = await store.create(harness.database, { prefix: '+4470', action: 'block', reason: 'personal numbers' });
    expect(made).toMatchObject({ accountId: null, prefix: '+4470', origin: 'admin', until: null, strikes: 0 });
    expect(await store.find(harness.database, made.id)).toEqual(made);
    expect(await store.update(harness.database, { ...made, reason: 'dear' })).toEqual({ ...made, reason: 'dear' });
    expect(await store.remove(harness.database, made.id)).toEqual({ ...made, reason: 'dear' });
    expect(await store.find(harness.database, made.id)).toBeNull();
    expect(await store.remove(harness.database, made.id)).toBeNull();
  });

  it('is one per prefix and account', async () => {
    const rule = { prefix: '+4471', action: 'block', reason: 'once' } as const;
    await store.create(harness.database, rule);
    await expect(store.create(harness.database, rule)).rejects.toThrow(DataError);
    await store.create(harness.database, { ...rule, accountId: harness.account.id });
  });

  it('concerns the numbers that begin so, of its account or of all, until its time is over', async () => {
    const other = await otherAccount();
    const reason = 'test';
    await store.create(harness.database, { prefix: '+447', action: 'block', reason });
    await store.create(harness.database, { prefix: '+447911', action: 'allow', reason, accountId: harness.account.id });
    await store.create(harness.database, { prefix: PHONE, action: 'block', reason, accountId: other });
    await store.create(harness.database, { prefix: '+4478', action: 'block', reason });
    const over = new Date(harness.clock.nowMs() - 1);
    await store.create(harness.database, { prefix: '+44791', action: 'block', reason, until: over });
    const prefixes = async (accountId: Uuid): Promise<string[]> =>
      (await store.matching(harness.database, accountId, PHONE, now())).map(({ prefix }) => prefix).sort();
    expect(await prefixes(harness.account.id)).toEqual(['+447', '+447911']);
    expect(await prefixes(other)).toEqual(['+447', PHONE]);
  });

  it('is listed newest first, page by page', async () => {
    const { data: all } = await store.list(harness.database, { limit: 100 });
    const first = await store.list(harness.database, { limit: 2 });
    expect(first).toEqual({ data: all.slice(0, 2), hasMore: true });
    const rest = await store.list(harness.database, { limit: 100, startingAfter: first.data[1]?.id ?? null });
    expect(rest).toEqual({ data: all.slice(2), hasMore: false });
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    const own = await store.list(harness.database, { limit: 100, accountId: harness.account.id });
    expect(own.data.map(({ prefix }) => prefix)).toEqual(['+447911', '+4471']);
  });
});

describe('a block of the guard', () => {
  const block = (prefix: string) =>
    store.blockPrefix(harness.database, {
      accountId: harness.account.id,
      prefix,
      reason: 'converts too little',
      blockSeconds: 3_600,
    });
  /** Moves the end of a block, as if time had gone by. */
  const endedAgo = (id: Uuid, span: string) =>
    harness.database.query(`UPDATE destination_rules SET until = clock_timestamp() - $2::interval WHERE id = $1`, [
      id,
      span,
    ]);
  const lastsMs = (until: Date | null | undefined): number => (until?.getTime() ?? 0) - harness.clock.nowMs();

  it('is written once, however many find out about it at the same time', async () => {
    const found = await Promise.all(Array.from({ length: 6 }, () => block('+1415555')));
    const [written, ...others] = found.filter((rule) => rule !== null);
    expect(others).toEqual([]);
    expect(written).toMatchObject({ action: 'block', origin: 'guard', strikes: 0 });
    expect(Math.abs(lastsMs(written?.until) - HOUR_MS)).toBeLessThan(MINUTE_MS);
    expect(await store.matching(harness.database, harness.account.id, '+14155552671', now())).toEqual([written]);
  });

  it('is four times as long on each repeat, thirty days at most, and forgotten after thirty quiet days', async () => {
    const first = await block('+1415556');
    const id = first?.id ?? '';
    for (const hours of [4, 16, 64, 256, 720, 720]) {
      await endedAgo(id, '1 second');
      const { data } = await store.list(harness.database, { limit: 100 });
      expect(data.map((rule) => rule.id)).not.toContain(id);
      expect(Math.abs(lastsMs((await block('+1415556'))?.until) - hours * HOUR_MS)).toBeLessThan(MINUTE_MS);
    }
    await endedAgo(id, '30 days 1 second');
    const again = await block('+1415556');
    expect(again?.strikes).toBe(0);
    expect(Math.abs(lastsMs(again?.until) - HOUR_MS)).toBeLessThan(MINUTE_MS);
  });

  it('is not changed by an admin, who overrules it or takes it away', async () => {
    const blocked = await block('+1415558');
    if (blocked === null) throw new Error('nothing was blocked');
    await expect(store.update(harness.database, { ...blocked, until: null })).rejects.toThrow('cannot be updated');
    expect(await store.find(harness.database, blocked.id)).toEqual(blocked);
  });

  it('does not stand in the way of an admin’s rule for the same prefix', async () => {
    const accountId = harness.account.id;
    await block('+1415557');
    await store.create(harness.database, { accountId, prefix: '+1415557', action: 'allow', reason: 'known campaign' });
    const rules = await store.matching(harness.database, accountId, '+14155571234', now());
    expect(rules.map(({ origin }) => origin).sort()).toEqual(['admin', 'guard']);
  });
});

describe('refusals', () => {
  it('are counted per account, hour, rule and prefix', async () => {
    const accountId = harness.account.id;
    const tally = (rule: string, prefix: string, times: number): Promise<void> =>
      store.countRefusals(harness.database, accountId, rule, prefix, times);
    await Promise.all(Array.from({ length: 5 }, () => tally('country', '+4479111', 1)));
    await tally('breaker', '+1415555', 3);
    const { data, hasMore } = await store.listRefusals(harness.database, { limit: 10, accountId });
    expect(hasMore).toBe(false);
    const counted = data.map(({ rule, prefix, refused }) => [rule, prefix, refused]);
    expect(counted).toEqual([
      ['breaker', '+1415555', 3],
      ['country', '+4479111', 5],
    ]);
    const next = await store.listRefusals(harness.database, { limit: 1, startingAfter: data[0]?.id ?? null });
    expect(next.data).toEqual(data.slice(1));
    const foreign = await store.listRefusals(harness.database, { limit: 10, accountId: await otherAccount() });
    expect(foreign.data).toEqual([]);
  });

  it('are forgotten from the oldest on', async () => {
    const { data } = await store.listRefusals(harness.database, { limit: 10 });
    const after = new Date(harness.clock.nowMs() + MINUTE_MS);
    expect(await store.purgeRefusals(harness.database, new Date(harness.clock.nowMs() - HOUR_MS), 10)).toBe(0);
    expect(await store.purgeRefusals(harness.database, after, 1)).toBe(1);
    expect((await store.listRefusals(harness.database, { limit: 10 })).data).toEqual(data.slice(0, -1));
    expect(await store.purgeRefusals(harness.database, after, 10)).toBe(data.length - 1);
  });
});
