import type { MigrationInterface, QueryRunner } from 'typeorm';

const COUNTS = ['created', 'reached', 'approved', 'denied', 'expired', 'cancelled', 'codes', 'cost_usd'];
/** As in 0038-overview-hours.ts. */
const BUCKETS = 50;

/** Whole days of which each hour is added up already; later ones are added up as their last hour is. */
const FILL = `
  INSERT INTO overview_days (test, dimension, hour, key, ${COUNTS.join(', ')}, times)
  SELECT test, dimension, date_trunc('day', hour), key, ${COUNTS.map((column) => `sum(${column})`).join(', ')},
    ARRAY[${Array.from({ length: BUCKETS }, (_, bucket) => `sum(times[${bucket + 1}])`).join(', ')}]::bigint[]
  FROM overview_hours
  WHERE date_trunc('day', hour) + interval '1 day' <= coalesce(
    (SELECT settled_until FROM usage_progress), (SELECT max(hour) + interval '1 hour' FROM usage_folds))
  GROUP BY test, dimension, date_trunc('day', hour), key`;

/** The hours of `overview_hours` by day; `hour` is the first of the day. A month of many brands is 24 times fewer rows. */
export class OverviewDays1700000000042 implements MigrationInterface {
  readonly name = 'OverviewDays1700000000042';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE overview_days (LIKE overview_hours INCLUDING ALL)');
    await runner.query(FILL);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE overview_days');
  }
}
