import { MODES, ownsRow, type Tenant } from '@countersign/keys';
import { SESSION_STATUSES } from '@countersign/session/rules';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UsageFoldStore } from '../../apps/control-plane/src/usage/usage-fold.store.js';
import { OverviewStore } from '../../apps/control-plane/src/usage/overview.store.js';
import { DAY_MS, HOUR_MS, planUsage, type Span } from '../../apps/control-plane/src/usage/usage-window.js';
import { UsageAggregator } from '../../apps/control-plane/src/usage/usage.aggregator.js';
import { UsageStore, type UsageCount, type UsageCounts } from '../../apps/control-plane/src/usage/usage.store.js';
import { storePast, storePrice, storeSubmittedCode, type PastSession } from '../support/past-sessions.js';
import { until } from '../support/until.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';

const RETENTION_DAYS = 30;
const HOURS = 6;
const OTHER_BRAND = '00000000-0000-7000-8000-000000000002';
const OTHER_ACCOUNT = '00000000-0000-7000-8000-000000000003';
const CODE_COST_USD = '0.041';

let harness: SessionHarness;
let store: UsageStore;
let folds: UsageFoldStore;
let aggregator: UsageAggregator;
/** Start of the first of six hours, two days ago. */
let firstMs: number;
let sessions: PastSession[];
const codes: PastSession[] = [];
const failures: unknown[] = [];

/** The price of sessions from `afterMs` after `firstMs` on. A country's own price precedes the one for all countries. */
const PRICES = [
  { channel: 'sms_fallback', country: '*', usd: '0.0079', afterMs: -24 * HOUR_MS },
  { channel: 'sms_fallback', country: 'GB', usd: '0.031', afterMs: -24 * HOUR_MS },
  { channel: 'rcs', country: '*', usd: '0.000001', afterMs: 2 * HOUR_MS },
  // In the middle of an hour, to the millisecond.
  { channel: 'sms_fallback', country: '*', usd: '0.0085', afterMs: 3 * HOUR_MS + 1_234_567 },
  { channel: 'sms_fallback', country: 'GB', usd: '0', afterMs: 5 * HOUR_MS },
] as const;

const COUNTRIES = ['US', 'GB', 'DE', '001'];

/** 600 deterministic sessions over six hours: every status, channel and country, at uneven intervals, edges included. */
function drafts() {
  const { account, brand } = harness;
  const spread = Array.from({ length: 600 }, (_, at) => ({
    createdMs: firstMs + ((at * 36_013) % (HOURS * HOUR_MS)),
    status: SESSION_STATUSES[at % 5] ?? 'pending',
    channel: at % 3 === 0 ? ('rcs' as const) : ('sms_fallback' as const),
    country: COUNTRIES[at % 4] ?? 'US',
    brandId: at % 7 === 0 ? OTHER_BRAND : brand.id,
    accountId: at % 11 === 0 ? OTHER_ACCOUNT : account.id,
    test: at % 13 === 0,
    ttlSeconds: 300,
  }));
  const edges = [0, 1, 2, 3, 4, 5].flatMap((hour) =>
    [0, 1, HOUR_MS - 1].map((ms) => ({
      createdMs: firstMs + hour * HOUR_MS + ms,
      brandId: brand.id,
      accountId: account.id,
    })),
  );
  const changes = [-1, 0, 1].map((ms) => ({
    createdMs: firstMs + 3 * HOUR_MS + 1_234_567 + ms,
    brandId: brand.id,
    accountId: account.id,
  }));
  return [...spread, ...edges, ...changes];
}

/** Folds when it is called, and not by itself. */
async function newAggregator(): Promise<UsageAggregator> {
  const settings = { retentionDays: RETENTION_DAYS };
  const failureLog = { about: () => (error: unknown) => void failures.push(error) };
  const made = new UsageAggregator(harness.database, harness.clock, folds, settings, failureLog);
  await made.stop();
  return made;
}

beforeAll(async () => {
  harness = await openSessionHarness({ pastDays: 4 });
  store = new UsageStore(harness.database);
  folds = new UsageFoldStore(harness.database);
  aggregator = await newAggregator();
  firstMs = (Math.floor(harness.clock.nowMs() / HOUR_MS) - 48) * HOUR_MS;
  for (const { afterMs, ...price } of PRICES)
    await storePrice(harness.database, { ...price, fromMs: firstMs + afterMs });
  sessions = await storePast(harness.database, drafts());
  for (const session of sessions.filter((_, at) => at % 17 === 0)) {
    codes.push(session);
    await storeSubmittedCode(harness.database, session, CODE_COST_USD);
  }
});
afterAll(async () => {
  await aggregator.stop();
  await harness.close();
  expect(failures).toEqual([]);
});

const micros = (usd: string): bigint => {
  const [whole = '0', decimals = ''] = usd.split('.');
  return BigInt(whole) * 1_000_000n + BigInt(decimals.padEnd(6, '0'));
};

function priceOf(session: PastSession): bigint {
  const inForce = PRICES.filter(
    ({ channel, afterMs }) => channel === session.channel && firstMs + afterMs <= session.createdMs,
  );
  const own = inForce.filter(({ country }) => country === session.country).at(-1);
  const common = inForce.filter(({ country }) => country === '*').at(-1);
  return micros((own ?? common)?.usd ?? '0');
}

/** The expected report, computed from the list of sessions without SQL. */
function recount(chosen: readonly PastSession[]): UsageCounts {
  const cost = chosen.reduce((sum, session) => {
    if (session.test) return sum;
    return sum + priceOf(session) + (codes.includes(session) ? micros(CODE_COST_USD) : 0n);
  }, 0n);
  const count = (holds: (session: PastSession) => boolean): number => chosen.filter(holds).length;
  return {
    total: chosen.length,
    approved: count(({ status }) => status === 'approved'),
    expired: count(({ status }) => status === 'expired' || status === 'pending'),
    denied: count(({ status }) => status === 'denied'),
    rcs: count(({ channel }) => channel === 'rcs'),
    smsFallback: count(({ channel }) => channel === 'sms_fallback'),
    costUsd: String(cost),
  };
}

const inMicros = <Counts extends UsageCounts>(counts: Counts): Counts => ({
  ...counts,
  costUsd: String(micros(counts.costUsd)),
});

async function report(
  span: Span,
  grouping: 'day' | 'country' | 'brand' | null = null,
  { accountId = harness.account.id, mode = 'live' }: Partial<Tenant> = {},
): Promise<UsageCount> {
  const { all, groups } = await store.inSnapshot(async (snapshot) => {
    const clock = await store.clock(snapshot);
    const plan = planUsage(span, clock, RETENTION_DAYS);
    return store.read(snapshot, { accountId, mode }, { plan, clock, grouping });
  });
  return { all: inMicros(all), groups: groups.map(inMicros) };
}

const within = (
  { fromMs, toMs }: Span,
  { accountId = harness.account.id, mode = 'live' }: Partial<Tenant> = {},
): PastSession[] =>
  sessions.filter(
    (session) => ownsRow({ accountId, mode }, session) && session.createdMs >= fromMs && session.createdMs < toMs,
  );

/** Windows with edges on, just before and just after the hours and the price change, and edges between them. */
function windows(): Span[] {
  const edges = [0, 1, 3, 6].flatMap((hour) => [-1, 0, 1].map((ms) => firstMs + hour * HOUR_MS + ms));
  const between = [1_234_567, 7_777_777, 3 * HOUR_MS + 1_234_567].map((ms) => firstMs + ms);
  const moments = [...edges, ...between].sort((one, other) => one - other);
  return moments.flatMap((fromMs) => moments.filter((toMs) => toMs > fromMs).map((toMs) => ({ fromMs, toMs })));
}

async function expectExact(): Promise<void> {
  for (const mode of MODES) {
    for (const span of windows()) {
      expect([mode, span, (await report(span, null, { mode })).all]).toEqual([
        ...[mode, span, recount(within(span, { mode }))],
      ]);
    }
  }
}

const foldedHours = async (): Promise<number[]> => {
  const rows = await harness.database.query<{ ms: number }>(
    `SELECT (extract(epoch FROM hour) * 1000)::float8 AS ms FROM usage_folds ORDER BY hour`,
  );
  return rows.map(({ ms }) => ms);
};

describe('a usage report', () => {
  it('is exact while no hour is folded', async () => {
    expect(await foldedHours()).toEqual([]);
    await expectExact();
  });

  it('is the same when some hours are folded, and when two processes have folded all concurrently', async () => {
    await folds.begin();
    await folds.begin();
    for (let hour = 0; hour < 3; hour += 1) expect(await folds.settleNext(RETENTION_DAYS)).toBe(true);
    await expectExact();
    const other = await newAggregator();
    while ((await foldedHours()).length < 10) {
      await Promise.all([folds.settleNext(RETENTION_DAYS), folds.foldChanges(), aggregator.foldDue(), other.foldDue()]);
    }
    await other.stop();
    expect(await foldedHours()).toEqual(expect.arrayContaining([firstMs, firstMs + 5 * HOUR_MS]));
    await expectExact();
  });

  it('uses hours that are folded without a gap, up to the last settled hour', async () => {
    const foldedEnd = async (): Promise<number> =>
      (await store.inSnapshot((snapshot) => store.clock(snapshot))).foldedUntilMs ?? 0;
    await until('all settled hours are folded', 20_000, async () => {
      await folds.settleNext(RETENTION_DAYS);
      return (await foldedEnd()) > harness.clock.nowMs() - 15 * 60_000 - HOUR_MS;
    });
    const hours = await foldedHours();
    expect(hours).toEqual(hours.map((_, at) => (hours[0] ?? 0) + at * HOUR_MS));
    const { nowMs, foldedUntilMs } = await store.inSnapshot((snapshot) => store.clock(snapshot));
    expect(foldedUntilMs).toBeLessThanOrEqual(nowMs - 15 * 60_000);
    expect(foldedUntilMs).toBeGreaterThan(nowMs - 15 * 60_000 - HOUR_MS);
  });

  it('has an overview of all accounts from the same hours, and from whole days', async () => {
    const overviews = new OverviewStore(harness.database);
    const dayMs = Math.floor(firstMs / DAY_MS) * DAY_MS;
    const window = { fromMs: dayMs, toMs: dayMs + 2 * DAY_MS };
    const [days] = await harness.database.query<{ count: number }>('SELECT count(*)::int FROM overview_days');
    expect(days?.count).toBeGreaterThan(0);
    for (const grouping of ['country', 'brand', 'day', 'hour'] as const) {
      const { all, groups } = await overviews.inSnapshot(async (snapshot, clock) =>
        overviews.read(snapshot, clock, { window, test: false, grouping }),
      );
      const live = sessions.filter((session) => !session.test && session.createdMs < window.toMs);
      const { total, approved, expired, denied, costUsd } = recount(live);
      const created = groups.reduce((sum, group) => sum + group.created, 0);
      expect([grouping, all, created]).toMatchObject([
        ...[grouping, { created: total, approved, expired, denied, costMicros: BigInt(costUsd) }, total],
      ]);
    }
  });

  it('reads whole days that are over instead of their hours', async () => {
    const dayMs = Math.floor(firstMs / DAY_MS) * DAY_MS;
    const spans = [0, 5 * HOUR_MS, 7_777_777].map((edgeMs) => ({ fromMs: dayMs - edgeMs, toMs: dayMs + 2 * DAY_MS }));
    const clock = await store.inSnapshot((snapshot) => store.clock(snapshot));
    expect(clock.daysUntilMs).toBe(Math.floor((clock.foldedUntilMs ?? 0) / DAY_MS) * DAY_MS);
    const [deleted] = await harness.database.query<{ rows: string }>(
      `WITH deleted AS (DELETE FROM usage_hours WHERE hour < $1 RETURNING *) SELECT json_agg(deleted)::text AS rows FROM deleted`,
      [new Date(clock.daysUntilMs ?? 0)],
    );
    for (const mode of MODES) {
      for (const span of spans)
        expect((await report(span, null, { mode })).all).toEqual(recount(within(span, { mode })));
    }
    const restore = 'INSERT INTO usage_hours SELECT * FROM json_populate_recordset(NULL::usage_hours, $1)';
    await harness.database.query(restore, [deleted?.rows]);
  });

  it('adds up days whose hours were folded by a release before days', async () => {
    await harness.database.query('UPDATE usage_progress SET days_until = NULL');
    for (const table of ['usage_days', 'overview_days']) await harness.database.query(`DELETE FROM ${table}`);
    await expectExact();
    // As if the last hour had not been folded yet.
    await harness.database.query(`UPDATE usage_progress SET settled_until = (SELECT max(hour) FROM usage_folds)`);
    await until('the hour is settled again', 20_000, () => folds.settleNext(RETENTION_DAYS));
    const { daysUntilMs, foldedUntilMs } = await store.inSnapshot((snapshot) => store.clock(snapshot));
    expect(daysUntilMs).toBe(Math.floor((foldedUntilMs ?? 0) / DAY_MS) * DAY_MS);
    await expectExact();
  });

  it('does not change when the sessions of its folded hours are deleted', async () => {
    const whole = { fromMs: firstMs, toMs: firstMs + HOURS * HOUR_MS };
    const before = await report(whole, 'country');
    await harness.database.query(`DELETE FROM sessions WHERE created_at < $1`, [new Date(firstMs + HOURS * HOUR_MS)]);
    expect(await report(whole, 'country')).toEqual(before);
    expect((await report(whole, null, { mode: 'test' })).all).toEqual(recount(within(whole, { mode: 'test' })));
    expect(before.all).toEqual(recount(within(whole)));
  });

  it('contains only the sessions of its account', async () => {
    const whole = { fromMs: firstMs, toMs: firstMs + HOURS * HOUR_MS };
    const other = { accountId: OTHER_ACCOUNT };
    expect((await report(whole, null, other)).all).toEqual(recount(within(whole, other)));
    const unknownAccount = '00000000-0000-7000-8000-000000000009';
    expect((await report(whole, null, { accountId: unknownAccount })).all).toEqual(recount([]));
  });

  it.each(['day', 'country', 'brand'] as const)('is the sum of its groups by %s', async (grouping) => {
    const whole = { fromMs: firstMs, toMs: firstMs + HOURS * HOUR_MS };
    const keyOf = (session: PastSession): string => {
      if (grouping === 'brand') return session.brandId;
      return grouping === 'country' ? session.country : new Date(session.createdMs).toISOString().slice(0, 10);
    };
    const keys = [...new Set(within(whole).map(keyOf))].sort();
    const expected = keys.map((key) => ({ key, ...recount(within(whole).filter((each) => keyOf(each) === key)) }));
    const { all, groups } = await report(whole, grouping);
    expect([...groups].sort((one, other) => (one.key < other.key ? -1 : 1))).toEqual(expected);
    expect(all).toEqual(recount(within(whole)));
  });
});

describe('an hour that is not folded', () => {
  it('counts pending sessions in the total, and as expired from `expires_at` on', async () => {
    const nowMs = harness.clock.nowMs();
    const accountId = '00000000-0000-7000-8000-000000000004';
    const draft = { accountId, brandId: harness.brand.id, status: 'pending' as const };
    await storePast(harness.database, [
      { ...draft, createdMs: nowMs - 200_000, ttlSeconds: 100 },
      { ...draft, createdMs: nowMs - 200_000, ttlSeconds: 300 },
    ]);
    const { all } = await report({ fromMs: nowMs - HOUR_MS, toMs: nowMs }, null, { accountId });
    expect(all).toMatchObject({ total: 2, expired: 1, approved: 0 });
  });

  it('counts a session that has the id of an earlier attempt', async () => {
    const nowMs = harness.clock.nowMs();
    const accountId = '00000000-0000-7000-8000-000000000005';
    const late = { accountId, brandId: harness.brand.id, createdMs: nowMs - 1_000 };
    const [early] = await storePast(harness.database, [
      { accountId: OTHER_ACCOUNT, brandId: harness.brand.id, createdMs: nowMs - 300_000 },
    ]);
    await harness.database.query(`DELETE FROM sessions WHERE id = $1`, [early?.id]);
    await storePast(harness.database, [{ ...late, id: early?.id ?? '' }]);
    expect((await report({ fromMs: nowMs - 2_000, toMs: nowMs }, null, { accountId })).all.total).toBe(1);
  });
});
