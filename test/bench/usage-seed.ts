import { firstIdAt, type Uuid } from '@countersign/ids';
import type { Database, Executor } from '@countersign/postgres';
import { ensurePartitions } from '@countersign/postgres/partitions';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Days of partitions that one call creates. */
const PARTITION_DAYS = 8;
/** An hour is aggregated once it and its longest session are over, after ten more minutes. */
const SETTLED_AFTER_MS = 15 * 60_000;
/** Time limit of one statement of the seeding. */
const SEED_TIMEOUT_MS = 120_000;
const SEED_CONNECTIONS = 2;
/** Progress is printed after so many hours of sessions. */
const PROGRESS_PARTS = 24;

export interface UsageSeed {
  readonly accountId: Uuid;
  readonly brandId: Uuid;
  /** The hour of `nowMs` is the last; all hours together have `sessions` sessions. */
  readonly nowMs: number;
  readonly days: number;
  readonly sessions: number;
  /** Every hour has its rows, not only the first and the open ones. */
  readonly everyHour?: boolean;
}

/** Sessions of two channels, four statuses, five countries and many phones. $1 account, $2 brand, $3 from, $4 to, $5 count. */
const INSERT_SESSIONS = `
  INSERT INTO sessions (id, account_id, brand_id, phone, country, test, status, channel, token_digest, client_challenge,
    brand_slug, brand_name, instruction, inbound_number, allow_sms_otp, metadata, entropy_key_version, created_at,
    expires_at, ended_at, approved_by)
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || substr(md5(n || at::text || $1::uuid), 1, 20))::uuid,
    $1, $2, '+1415' || (2000000 + n * 7919 % 7999999), (ARRAY['US', 'GB', 'DE', 'BR', 'IN'])[1 + n % 5], false,
    (ARRAY['approved', 'approved', 'approved', 'expired', 'denied', 'cancelled'])[1 + n % 6],
    (ARRAY['rcs', 'sms_fallback'])[1 + n % 2], sha256((n || at::text || $1::uuid)::bytea), repeat('ab', 32), 'BENCH', 'Bench',
    'Send this.', '+14155550100', true, '{}', 1, at, at + interval '90 seconds', at + interval '9 seconds',
    CASE WHEN n % 6 < 3 THEN 'mo' END
  FROM (SELECT n, $3::timestamptz + ($4::timestamptz - $3::timestamptz) * (n::float8 / $5::int) AS at
    FROM generate_series(0, $5::int - 1) AS n) AS spread`;

/** A code for every eighth session. $1 account, $2 lowest id, $3 end of the ids. */
const INSERT_CODES = `
  INSERT INTO outbound_messages (id, session_id, account_id, test, destination, destination_prefix, country, sender, state,
    created_at, expires_at, submitted_at, cost_usd)
  SELECT id, id, account_id, false, phone, '+1415555', country, 'BENCH', 'submitted', created_at, expires_at, created_at, 0.041
  FROM sessions WHERE account_id = $1 AND id >= $2 AND id < $3 AND right(id::text, 1) IN ('0', '8')`;

/** The message of every session that one approved. $1 account, $2 lowest id, $3 end of the ids. */
const INSERT_MESSAGES = `
  INSERT INTO messages (id, direction, carrier, link_id, source, source_ton, source_npi, destination, data_coding, text_sealed,
    fate, session_id, account_id, received_at)
  SELECT id, 'in', 'bench', id, substr(phone, 2), 1, 1, '14155550100', 0, decode(repeat('5e', 90), 'hex'), 'matched', id, account_id,
    ended_at
  FROM sessions WHERE account_id = $1 AND id >= $2 AND id < $3 AND approved_by = 'mo'`;

/** Aggregated hours. $1 account, $2 brand, $3 first hour, $4 their end, $5 sessions in an hour. */
const INSERT_HOURS = `
  WITH hours AS (
    INSERT INTO usage_folds (hour)
    SELECT generate_series($3::timestamptz, $4::timestamptz - interval '1 hour', interval '1 hour')
    ON CONFLICT (hour) DO UPDATE SET hour = excluded.hour RETURNING hour)
  INSERT INTO usage_hours (account_id, hour, brand_id, channel, status, country, count, cost_usd)
  SELECT $1::uuid, hour, $2::uuid, channel, status, country, $5::int / 40, ($5::int / 40) * 0.0079
  FROM hours, unnest(ARRAY['rcs', 'sms_fallback']) AS channel,
    unnest(ARRAY['approved', 'expired', 'denied', 'cancelled']) AS status,
    unnest(ARRAY['US', 'GB', 'DE', 'BR', 'IN']) AS country
  UNION ALL
  SELECT $1::uuid, hour, $2::uuid, 'sms_otp', 'submitted', country, $5::int / 40, ($5::int / 40) * 0.041
  FROM hours, unnest(ARRAY['US', 'GB', 'DE', 'BR', 'IN']) AS country`;

/** Minutes of the open hours, counted as they are settled or open. $1 account. */
const INSERT_MINUTES = `
  INSERT INTO usage_minutes (account_id, test, minute, brand_id, channel, status, country, route_id, bucket, count, cost_usd)
  SELECT account_id, false, date_trunc('minute', created_at), brand_id, channel, status, country,
    '00000000-0000-0000-0000-000000000000'::uuid, CASE status WHEN 'approved' THEN 27 ELSE 0 END, count(*), count(*) * 0.0079
  FROM sessions WHERE account_id = $1 AND created_at >= $2 AND created_at < $3 GROUP BY 1, 3, 4, 5, 6, 7
  UNION ALL
  SELECT sessions.account_id, false, date_trunc('minute', sessions.created_at), brand_id, 'sms_otp', 'submitted',
    sessions.country, '00000000-0000-0000-0000-000000000000'::uuid, 0, count(*), sum(cost_usd)
  FROM outbound_messages AS codes JOIN sessions ON sessions.id = session_id
  WHERE sessions.account_id = $1 AND sessions.created_at >= $2 AND sessions.created_at < $3 GROUP BY 1, 3, 4, 7`;

/** Whole days of these hours. $1 end of the hours. */
const INSERT_DAYS = `
  INSERT INTO usage_days (account_id, test, hour, brand_id, channel, status, country, count, cost_usd)
  SELECT account_id, test, date_trunc('day', hour, 'UTC'), brand_id, channel, status, country, sum(count), sum(cost_usd)
  FROM usage_hours WHERE hour < date_trunc('day', $1::timestamptz, 'UTC') GROUP BY 1, 2, 3, 4, 5, 6, 7
  ON CONFLICT DO NOTHING`;

/** Folding is up to date. $1 start of the minutes and end of the hours, $2 end of the settled minutes. */
const INSERT_PROGRESS = `
  INSERT INTO usage_progress (minutes_from, settled_until, open_from, folded_xid, days_until)
  VALUES ($1, $2, $2, pg_snapshot_xmin(pg_current_snapshot())::text::bigint, date_trunc('day', $1::timestamptz, 'UTC'))
  ON CONFLICT (only_row) DO UPDATE SET minutes_from = excluded.minutes_from, settled_until = excluded.settled_until,
    open_from = excluded.open_from, folded_xid = excluded.folded_xid, days_until = excluded.days_until`;

const INSERT_PRICES = `
  INSERT INTO price_spans (price_id, channel, country, usd, from_at, held_from)
  SELECT gen_random_uuid(), channel, country, 0.0079, to_timestamp(0), to_timestamp(0)
  FROM unnest(ARRAY['rcs', 'sms_fallback', 'sms_otp']) AS channel, unnest(ARRAY['*', 'US', 'GB']) AS country`;

/** Sessions at equal intervals. */
interface Part {
  readonly fromMs: number;
  readonly toMs: number;
  readonly sessions: number;
}

async function insertPart({ accountId, brandId }: UsageSeed, part: Part, session: Executor): Promise<void> {
  const { fromMs, toMs, sessions } = part;
  await session.query(INSERT_SESSIONS, [accountId, brandId, new Date(fromMs), new Date(toMs), sessions]);
  const ids = [accountId, firstIdAt(fromMs), firstIdAt(toMs)];
  await session.query(INSERT_CODES, ids);
  await session.query(INSERT_MESSAGES, ids);
}

/** Every part once, on several connections. */
async function insertParts(database: Database, seed: UsageSeed, parts: readonly Part[]): Promise<void> {
  const waiting = [...parts];
  const insert = async (session: Executor): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      await insertPart(seed, part, session);
      const done = parts.length - waiting.length;
      if (done % PROGRESS_PARTS === 0) process.stderr.write(`seeded ${done} of ${parts.length} hours\n`);
    }
  };
  await Promise.all(
    Array.from({ length: SEED_CONNECTIONS }, () => database.maintenance(SEED_TIMEOUT_MS, (session) => insert(session))),
  );
}

/**
 * Inserts the sessions of some days as a month of service would have left them: past hours and minutes aggregated; as rows the
 * first hour and the open ones, or every hour. No control plane may run meanwhile. Returns the count of sessions in a report from
 * half past the first hour until now.
 */
export async function seedUsage(database: Database, seed: UsageSeed): Promise<{ fromMs: number; counted: number }> {
  const { accountId, brandId, nowMs, days, sessions } = seed;
  for (let ago = 0; ago <= days + PARTITION_DAYS; ago += PARTITION_DAYS) {
    await ensurePartitions(database, nowMs - ago * DAY_MS);
  }
  const foldedUntilMs = Math.floor((nowMs - SETTLED_AFTER_MS) / HOUR_MS) * HOUR_MS;
  const hours = days * 24;
  const firstMs = foldedUntilMs - hours * HOUR_MS;
  const perHour = Math.ceil(sessions / hours / 40) * 40;
  const past = Array.from({ length: hours }, (_, at) => {
    const fromMs = firstMs + at * HOUR_MS;
    return { fromMs, toMs: fromMs + HOUR_MS, sessions: perHour };
  });
  const openSessions = Math.ceil((perHour * (nowMs - foldedUntilMs)) / HOUR_MS);
  const open = { fromMs: foldedUntilMs, toMs: nowMs, sessions: openSessions };
  await insertParts(database, seed, [...(seed.everyHour === true ? past : past.slice(0, 1)), open]);
  await database.maintenance(SEED_TIMEOUT_MS, async (session) => {
    await session.query(INSERT_PRICES);
    await session.query(INSERT_HOURS, [accountId, brandId, new Date(firstMs), new Date(foldedUntilMs), perHour]);
    await session.query(INSERT_DAYS, [new Date(foldedUntilMs)]);
    await session.query(INSERT_MINUTES, [accountId, new Date(foldedUntilMs), new Date(nowMs)]);
    // A table that autovacuum analyzes at this moment is locked for longer than a statement of the product may wait.
    await session.transaction(async (tx) => {
      await tx.query(`SELECT set_config('lock_timeout', $1, true)`, [String(SEED_TIMEOUT_MS)]);
      await tx.query('ANALYZE');
    });
    const settled = new Date(Math.floor((nowMs - SETTLED_AFTER_MS) / MINUTE_MS) * MINUTE_MS);
    await session.query(INSERT_PROGRESS, [new Date(foldedUntilMs), settled]);
  });
  return { fromMs: firstMs + HOUR_MS / 2, counted: perHour / 2 + (hours - 1) * perHour + openSessions };
}
