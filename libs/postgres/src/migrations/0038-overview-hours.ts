import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Buckets of times to approve: one more than the bounds in apps/control-plane/src/usage/approval-time.ts. */
const BUCKETS = 50;

/** Counts of an hour of all accounts by `all`, country, channel, brand or route. `times` are approvals by bucket. */
const TABLE = `
  CREATE TABLE overview_hours (
    test boolean NOT NULL,
    dimension text NOT NULL CHECK (dimension IN ('all', 'country', 'channel', 'brand', 'route')),
    hour timestamptz(3) NOT NULL,
    key text NOT NULL,
    created bigint NOT NULL,
    reached bigint NOT NULL,
    approved bigint NOT NULL,
    denied bigint NOT NULL,
    expired bigint NOT NULL,
    cancelled bigint NOT NULL,
    codes bigint NOT NULL,
    cost_usd numeric(20, 6) NOT NULL,
    times bigint[] NOT NULL CHECK (cardinality(times) = ${BUCKETS}),
    PRIMARY KEY (test, dimension, hour, key)
  )`;

const sum = (condition: string): string => `coalesce(sum(count) FILTER (WHERE ${condition}), 0)`;

/** Hours of before have no times and no routes. */
const FILL = `
  INSERT INTO overview_hours
  SELECT test, dimension, hour, key, ${sum(`channel <> 'sms_otp'`)},
    ${sum(`channel = 'rcs' OR (channel = 'sms_fallback' AND status IN ('approved', 'denied'))`)},
    ${sum(`channel <> 'sms_otp' AND status = 'approved'`)}, ${sum(`channel <> 'sms_otp' AND status = 'denied'`)},
    ${sum(`channel <> 'sms_otp' AND status = 'expired'`)}, ${sum(`channel <> 'sms_otp' AND status = 'cancelled'`)},
    ${sum(`channel = 'sms_otp'`)}, sum(cost_usd), array_fill(0::bigint, ARRAY[${BUCKETS}])
  FROM usage_hours CROSS JOIN LATERAL
    (VALUES ('all', ''), ('country', country), ('channel', channel), ('brand', brand_id::text)) AS of (dimension, key)
  GROUP BY test, dimension, hour, key`;

/** The funnel of all accounts by hour and dimension: an overview of a month reads few rows, whatever the accounts. */
export class OverviewHours1700000000038 implements MigrationInterface {
  readonly name = 'OverviewHours1700000000038';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [TABLE, FILL]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE overview_hours');
  }
}
