import { newId, type Uuid } from '@countersign/ids';
import { MODES, type Mode } from '@countersign/keys';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UsageFoldStore } from '../../apps/control-plane/src/usage/usage-fold.store.js';
import { HOUR_MS, MINUTE_MS, planUsage, type Span } from '../../apps/control-plane/src/usage/usage-window.js';
import { OverviewStore, type OverviewGrouping } from '../../apps/control-plane/src/usage/overview.store.js';
import { UsageStore, type UsageCounts } from '../../apps/control-plane/src/usage/usage.store.js';
import { storePast, storePrice } from '../support/past-sessions.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { until } from '../support/until.js';

const RETENTION_DAYS = 30;
/** Open transactions at a time. */
const WRITERS = 3;
const RUNS = 25;
const ROUTES = ['00000000-0000-7000-8000-0000000000a1', '00000000-0000-7000-8000-0000000000a2'];
const XID = 'pg_current_xact_id()::text::bigint';
/** How each ends, and by what. */
const ENDS = { approved: "'mo'", by_code: "'otp'", denied: 'NULL', cancelled: 'NULL', expired: 'NULL' } as const;

type Step =
  | {
      readonly kind: 'create';
      readonly writer: number;
      readonly count: number;
      readonly agoMs: number;
      readonly mode: Mode;
    }
  | { readonly kind: 'end'; readonly writer: number; readonly as: keyof typeof ENDS; readonly nth: number }
  | { readonly kind: 'deliver' | 'send'; readonly writer: number; readonly nth: number }
  | { readonly kind: 'commit' | 'rollback'; readonly writer: number }
  | { readonly kind: 'fold' | 'settle' | 'restore' | 'check' };

const writer = fc.nat({ max: WRITERS - 1 });
const nth = fc.nat({ max: 1_000 });
const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      writer,
      count: fc.integer({ min: 1, max: 4 }),
      agoMs: fc.integer({ min: 0, max: 9 * MINUTE_MS }),
      mode: fc.constantFrom(...MODES),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      writer,
      as: fc.constantFrom(
        'approved' as const,
        'by_code' as const,
        'denied' as const,
        'cancelled' as const,
        'expired' as const,
      ),
      nth,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('deliver' as const, 'send' as const), writer, nth }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('commit' as const, 'commit' as const, 'rollback' as const), writer }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('fold' as const, 'fold' as const, 'settle' as const, 'check' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restore' as const) }) },
);

let harness: SessionHarness;
let owner: pg.Pool;
let store: UsageStore;
let overviews: OverviewStore;
let folds: UsageFoldStore;

beforeAll(async () => {
  harness = await openSessionHarness({ pastDays: 2 });
  owner = new pg.Pool({ connectionString: harness.ownerUrl, max: WRITERS + 1 });
  store = new UsageStore(harness.database);
  overviews = new OverviewStore(harness.database);
  folds = new UsageFoldStore(harness.database);
  for (const [channel, usd] of [
    ['rcs', '0.01'],
    ['sms_fallback', '0.002'],
    ['sms_otp', '0.04'],
  ] as const) {
    await storePrice(harness.database, { channel, country: '*', usd, fromMs: harness.clock.nowMs() - 3 * HOUR_MS });
  }
  await storePrice(harness.database, {
    ...{ channel: 'rcs', country: 'GB', usd: '0.03' },
    fromMs: harness.clock.nowMs() - 5 * MINUTE_MS,
  });
});
afterAll(async () => {
  await owner.end();
  await harness.close();
});

/** A plain count of the sessions and codes of a window, without folds. $1 account, $2 mode, $3 from, $4 to. */
const RECOUNT = `
  WITH each AS (
    SELECT id, channel, test, CASE WHEN status = 'pending' AND expires_at <= transaction_timestamp() THEN 'expired'
        ELSE status END AS status,
      (SELECT usd FROM prices WHERE prices.channel = sessions.channel AND prices.country IN (sessions.country, '*')
        AND from_at <= sessions.created_at ORDER BY prices.country = '*', from_at DESC LIMIT 1) AS usd,
      (SELECT sum(cost_usd) FROM outbound_messages AS codes
        WHERE session_id = sessions.id AND submitted_at IS NOT NULL AND NOT codes.test) AS codes_usd
    FROM sessions WHERE account_id = $1 AND test = ($2 = 'test') AND created_at >= $3 AND created_at < $4)
  SELECT count(*)::float8 AS total, (count(*) FILTER (WHERE status = 'approved'))::float8 AS approved,
    (count(*) FILTER (WHERE status = 'expired'))::float8 AS expired,
    (count(*) FILTER (WHERE status = 'denied'))::float8 AS denied,
    (count(*) FILTER (WHERE channel = 'rcs'))::float8 AS rcs,
    (count(*) FILTER (WHERE channel = 'sms_fallback'))::float8 AS "smsFallback",
    coalesce(sum(CASE WHEN test THEN 0 ELSE coalesce(usd, 0) + coalesce(codes_usd, 0) END), 0)::float8 AS "costUsd"
  FROM each`;

/** A plain count by group of the sessions of all accounts. $1 mode, $2 from, $3 to. */
const recountBy = (key: string, created: string): string => `
  WITH each AS (
    SELECT sessions.*, CASE WHEN status = 'pending' AND expires_at <= transaction_timestamp() THEN 'expired' ELSE status END AS state
    FROM sessions WHERE test = ($1 = 'test') AND created_at >= $2 AND created_at < $3)
  SELECT ${key} AS key, ${created}, (count(*) FILTER (WHERE state = 'approved'))::float8 AS approved
  FROM each GROUP BY 1 ORDER BY 1`;
const CREATED = `count(*)::float8 AS created, (count(*) FILTER (WHERE state = 'expired'))::float8 AS expired,
  (count(*) FILTER (WHERE state = 'cancelled'))::float8 AS cancelled, (count(*) FILTER (WHERE state = 'denied'))::float8 AS denied,
  (count(*) FILTER (WHERE channel = 'rcs' OR state IN ('approved', 'denied')))::float8 AS reached`;

/** Codes by route, with the sessions that they approved. $1 from, $2 to. */
const RECOUNT_ROUTES = `
  SELECT codes.route_id::text AS key, count(*)::float8 AS codes, (sum(cost_usd) * 1000000)::float8 AS "costMicros",
    (count(DISTINCT session_id) FILTER (WHERE approved_by = 'otp' AND codes.id = (
      SELECT id FROM outbound_messages AS last WHERE last.session_id = sessions.id AND last.submitted_at <= ended_at
      ORDER BY submitted_at DESC LIMIT 1)))::float8 AS approved
  FROM outbound_messages AS codes JOIN sessions ON sessions.id = session_id
  WHERE NOT codes.test AND sessions.created_at >= $1 AND sessions.created_at < $2 GROUP BY 1 ORDER BY 1`;

/** One account with its history; the database is shared by all runs. */
class History {
  private readonly accountId = newId(harness.clock.nowMs());
  private readonly open = new Map<number, pg.PoolClient>();
  /** Sessions that exist or whose creation is not committed yet, by writer; those of rolled back writers do not count. */
  private readonly uncommitted = new Map<number, Uuid[]>();
  private readonly known: Uuid[] = [];
  private readonly locked = new Map<Uuid, number>();

  async run(step: Step): Promise<void> {
    switch (step.kind) {
      case 'create':
        return this.create(step);
      case 'end':
        return this.change(
          step,
          `UPDATE sessions SET status = $2, ended_at = least(clock_timestamp(), expires_at),
          ended_xid = ${XID}, approved_by = ${ENDS[step.as]} WHERE id = $1 AND status = 'pending'
          AND ($2 = 'expired' OR expires_at > clock_timestamp())`,
          [step.as === 'by_code' ? 'approved' : step.as],
        );
      case 'deliver':
        return this.change(
          step,
          `UPDATE sessions SET channel = 'rcs', rcs_xid = ${XID}
          WHERE id = $1 AND channel = 'sms_fallback' AND NOT test AND expires_at > clock_timestamp()`,
          [],
        );
      case 'send':
        return this.change(
          step,
          `INSERT INTO outbound_messages (id, session_id, account_id, test, destination,
          destination_prefix, country, sender, state, created_at, expires_at, submitted_at, submitted_xid, cost_usd, route_id)
          SELECT $2, id, account_id, test, phone, '+1415555', country, 'ACME', 'submitted', created_at, expires_at,
            clock_timestamp(), ${XID}, 0.04, $3 FROM sessions WHERE id = $1 AND expires_at > clock_timestamp()`,
          [newId(harness.clock.nowMs()), ROUTES[step.nth % 2]],
        );
      case 'commit':
      case 'rollback':
        return this.finish(step.writer, step.kind);
      case 'fold':
        await folds.foldChanges();
        return;
      case 'settle':
        await folds.settleNext(RETENTION_DAYS);
        return;
      case 'restore':
        // As in a cluster whose transactions begin again: the folds must not go on.
        await owner.query(`UPDATE usage_progress SET folded_xid = folded_xid + 1000000`);
        return;
      case 'check':
        return this.check();
    }
  }

  /** Sessions that are settled during the run, committed. */
  async createPast(): Promise<void> {
    const nowMs = harness.clock.nowMs();
    const drafts = Array.from({ length: 20 }, (_, at) => ({
      accountId: this.accountId,
      brandId: harness.brand.id,
      createdMs: nowMs - 16 * MINUTE_MS - at * 5 * MINUTE_MS,
      status: at % 3 === 0 ? ('pending' as const) : ('approved' as const),
      test: at % 5 === 0,
    }));
    const past = await storePast(harness.database, drafts);
    this.known.push(...past.map(({ id }) => id));
  }

  async end(): Promise<void> {
    for (const writer of [...this.open.keys()]) await this.finish(writer, 'commit');
    await this.check();
    while (await folds.foldChanges());
    while (await folds.settleNext(RETENTION_DAYS));
    await this.check();
  }

  async abandon(): Promise<void> {
    for (const writer of [...this.open.keys()]) await this.finish(writer, 'rollback');
  }

  private async create({ writer, count, agoMs, mode }: Step & { kind: 'create' }): Promise<void> {
    const client = await this.clientOf(writer);
    const createdMs = harness.clock.nowMs() - agoMs;
    for (let at = 0; at < count; at += 1) {
      // Some have the id of an earlier attempt.
      const id = newId(createdMs - (at === 1 ? 4 * MINUTE_MS : 0));
      await client.query(
        `INSERT INTO sessions (id, account_id, brand_id, phone, country, test, status, channel, token_digest, client_challenge,
           brand_slug, brand_name, instruction, inbound_number, allow_sms_otp, metadata, entropy_key_version, created_at,
           expires_at)
         VALUES ($1::uuid, $2, $3, '+14155552671', $4, $5, 'pending', 'sms_fallback', uuid_send($1::uuid), '', 'ACME', 'Acme',
           '', '+14155550100', true, '{}', 1, $6, $6::timestamptz + make_interval(secs => $7))`,
        [
          id,
          this.accountId,
          harness.brand.id,
          at % 2 === 0 ? 'US' : 'GB',
          mode === 'test',
          new Date(createdMs - at * 7_001),
          [90, 300][at % 2],
        ],
      );
      this.uncommitted.set(writer, [...(this.uncommitted.get(writer) ?? []), id]);
    }
  }

  /** A change of a session that exists for this writer and that no other writer has locked. */
  private async change(step: { writer: number; nth: number }, sql: string, values: readonly unknown[]): Promise<void> {
    const seen = [...this.known, ...(this.uncommitted.get(step.writer) ?? [])];
    const id = seen[step.nth % Math.max(1, seen.length)];
    if (id === undefined || (this.locked.get(id) ?? step.writer) !== step.writer) return;
    const client = await this.clientOf(step.writer);
    this.locked.set(id, step.writer);
    await client.query(sql, [id, ...values]);
  }

  private async clientOf(writer: number): Promise<pg.PoolClient> {
    const client = this.open.get(writer) ?? (await owner.connect());
    if (!this.open.has(writer)) await client.query('BEGIN');
    this.open.set(writer, client);
    return client;
  }

  private async finish(writer: number, how: 'commit' | 'rollback'): Promise<void> {
    const client = this.open.get(writer);
    if (client === undefined) return;
    await client.query(how);
    client.release();
    this.open.delete(writer);
    if (how === 'commit') this.known.push(...(this.uncommitted.get(writer) ?? []));
    this.uncommitted.delete(writer);
    for (const [id, by] of this.locked) if (by === writer) this.locked.delete(id);
  }

  /** Reports of several windows against the plain count of the same snapshot. */
  private async check(): Promise<void> {
    const nowMs = harness.clock.nowMs();
    const minute = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
    const windows: Span[] = [
      { fromMs: nowMs - 3 * HOUR_MS, toMs: nowMs + HOUR_MS },
      { fromMs: minute - 4 * MINUTE_MS - 1, toMs: minute - MINUTE_MS + 17 },
      { fromMs: nowMs - 40 * MINUTE_MS - 3, toMs: nowMs - 3 * MINUTE_MS },
    ];
    await this.checkOverview();
    for (const mode of MODES) {
      for (const span of windows) {
        const [found, expected] = await this.bothCounts(mode, span);
        expect([mode, span, found]).toEqual([mode, span, expected]);
      }
    }
  }

  /** Overviews by two groupings, and by route, against plain counts. */
  private async checkOverview(): Promise<void> {
    const toMs = Math.floor(harness.clock.nowMs() / MINUTE_MS) * MINUTE_MS;
    for (const window of [
      { fromMs: toMs - 100 * MINUTE_MS, toMs: toMs + HOUR_MS },
      { fromMs: toMs - 9 * MINUTE_MS, toMs: toMs - 2 * MINUTE_MS },
    ]) {
      const dates = [new Date(window.fromMs), new Date(window.toMs)];
      for (const mode of MODES) {
        await this.compare({ mode, window, grouping: 'country' }, recountBy('country', CREATED), [mode, ...dates]);
        const day = `to_char(created_at, 'YYYY-MM-DD')`;
        await this.compare({ mode, window, grouping: 'day' }, recountBy(day, CREATED), [mode, ...dates]);
      }
      await this.compare({ mode: 'live', window, grouping: 'route' }, RECOUNT_ROUTES, dates);
    }
  }

  private async compare(
    request: { readonly mode: Mode; readonly window: Span; readonly grouping: OverviewGrouping },
    sql: string,
    values: readonly unknown[],
  ): Promise<void> {
    const test = request.mode === 'test';
    const [groups, expected] = await overviews.inSnapshot(async (snapshot, clock) => {
      const { groups: read } = await overviews.read(snapshot, clock, { ...request, test });
      return [read, await snapshot.query<{ key: string }>(sql, values)] as const;
    });
    const found = groups.map((group) => ({ ...group, costMicros: Number(group.costMicros) }));
    expect([request, found.sort((one, other) => (one.key < other.key ? -1 : 1))]).toEqual([
      ...[request, expected.map((group) => expect.objectContaining(group) as unknown)],
    ]);
  }

  private bothCounts(mode: Mode, span: Span): Promise<[object, object | undefined]> {
    const { accountId } = this;
    return store.inSnapshot(async (snapshot) => {
      const clock = await store.clock(snapshot);
      const plan = planUsage(span, clock, RETENTION_DAYS);
      const { all } = await store.read(snapshot, { accountId, mode }, { plan, clock, grouping: null });
      const window = [new Date(span.fromMs), new Date(span.toMs)];
      const [expected] = await snapshot.query<UsageCounts>(RECOUNT, [accountId, mode, ...window]);
      return [{ ...all, costUsd: Number(all.costUsd) }, expected];
    });
  }
}

describe('folds and the changes after them', () => {
  it('count a session that expires while a report is read as what it was at its begin', async () => {
    await beginAnew();
    const accountId = newId(harness.clock.nowMs());
    await storePast(harness.database, [
      { accountId, brandId: harness.brand.id, createdMs: harness.clock.nowMs(), status: 'pending', ttlSeconds: 1 },
    ]);
    const expired = await store.inSnapshot(async (snapshot) => {
      const clock = await store.clock(snapshot);
      const window = { fromMs: clock.nowMs - HOUR_MS, toMs: clock.nowMs + HOUR_MS };
      const plan = planUsage(window, clock, RETENTION_DAYS);
      const count = async (): Promise<number> =>
        (await store.read(snapshot, { accountId, mode: 'live' }, { plan, clock, grouping: null })).all.expired;
      const first = await count();
      await until('the session is over', 5_000, async () => {
        const [row] = await harness.database.query<{ due: boolean }>(
          'SELECT expires_at <= clock_timestamp() AS due FROM sessions WHERE account_id = $1',
          [accountId],
        );
        return row?.due === true;
      });
      return [first, await count()];
    });
    expect(expired).toEqual([0, 0]);
  });

  it('count each session once, in any order of commits, folds and late changes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 10, maxLength: 60 }), async (steps) => {
        const history = new History();
        try {
          await beginAnew();
          await history.createPast();
          for (const step of steps) await history.run(step);
          await history.end();
        } finally {
          await history.abandon();
        }
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  }, 300_000);
});

/** No session, and folding begins two hours ago: every session that is created from now on has a later transaction. */
async function beginAnew(): Promise<void> {
  for (const table of ['sessions', 'outbound_messages']) await owner.query(`DELETE FROM ${table}`);
  await owner.query(
    'TRUNCATE usage_progress, usage_minutes, usage_hours, usage_days, usage_folds, overview_hours, overview_days',
  );
  await owner.query(`
    INSERT INTO usage_progress (minutes_from, settled_until, open_from, folded_xid)
    SELECT from_at, from_at, from_at, pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    FROM (SELECT date_trunc('hour', clock_timestamp()) - interval '2 hours' AS from_at) AS begun`);
}
