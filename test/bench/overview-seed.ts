import type { Database } from '@countersign/postgres';

/** Time limit of one statement of the seeding. */
const SEED_TIMEOUT_MS = 120_000;
/** Buckets of times to approve, as the product has them. */
const BUCKETS = 50;
export const BRANDS = 200;

/**
 * Sums of an hour of all accounts, from those of `usage_hours` of one account: all of them, by country and channel, and
 * the same divided over brands and routes.
 */
const INSERT_OVERVIEW = `
  INSERT INTO overview_hours (test, dimension, hour, key, created, reached, approved, denied, expired, cancelled, codes,
    cost_usd, times)
  SELECT false, dimension, hour, key, coalesce(sum(part) FILTER (WHERE channel <> 'sms_otp'), 0),
    coalesce(sum(part) FILTER (WHERE channel = 'rcs'), 0), coalesce(sum(part) FILTER (WHERE status = 'approved'), 0),
    coalesce(sum(part) FILTER (WHERE status = 'denied'), 0), coalesce(sum(part) FILTER (WHERE status = 'expired'), 0),
    coalesce(sum(part) FILTER (WHERE status = 'cancelled'), 0), coalesce(sum(part) FILTER (WHERE channel = 'sms_otp'), 0),
    sum(cost_usd), array_fill((coalesce(sum(part) FILTER (WHERE status = 'approved'), 0) / ${BUCKETS})::bigint, ARRAY[${BUCKETS}])
  FROM usage_hours CROSS JOIN LATERAL (
    SELECT 'all' AS dimension, '' AS key, count AS part UNION ALL SELECT 'country', country, count
    UNION ALL SELECT 'channel', channel, count
    UNION ALL SELECT 'brand', lpad(to_hex(n), 32, '0')::uuid::text, count / ${BRANDS} FROM generate_series(1, ${BRANDS}) AS n
    UNION ALL SELECT 'route', lpad(to_hex(n), 32, '0')::uuid::text, count / 20 FROM generate_series(1, 20) AS n
      WHERE channel = 'sms_otp') AS of
  GROUP BY dimension, hour, key
  ON CONFLICT (test, dimension, hour, key) DO NOTHING`;

/** Whole days of these hours, as the product has them. */
const INSERT_DAYS = `
  INSERT INTO overview_days (test, dimension, hour, key, created, reached, approved, denied, expired, cancelled, codes,
    cost_usd, times)
  SELECT test, dimension, date_trunc('day', hour), key, sum(created), sum(reached), sum(approved), sum(denied), sum(expired),
    sum(cancelled), sum(codes), sum(cost_usd),
    ARRAY[${Array.from({ length: BUCKETS }, (_, at) => `sum(times[${at + 1}])`).join(', ')}]::bigint[]
  FROM overview_hours WHERE hour < date_trunc('day', (SELECT max(hour) + interval '1 hour' FROM usage_folds))
  GROUP BY test, dimension, date_trunc('day', hour), key
  ON CONFLICT (test, dimension, hour, key) DO NOTHING`;

/** Adds the hours of all accounts to what `seedUsage` has stored. Returns the sessions in them. */
export async function seedOverview(database: Database): Promise<number> {
  await database.maintenance(SEED_TIMEOUT_MS, async (session) => {
    await session.query(INSERT_OVERVIEW);
    await session.query(INSERT_DAYS);
    await session.query('ANALYZE overview_hours');
    await session.query('ANALYZE overview_days');
  });
  const [row] = await database.query<{ created: number }>(
    `SELECT sum(created)::float8 AS created FROM overview_hours WHERE dimension = 'all'`,
  );
  return row?.created ?? 0;
}
