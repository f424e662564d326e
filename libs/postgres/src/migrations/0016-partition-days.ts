import type { MigrationInterface, QueryRunner } from 'typeorm';

/** As in 0013-database-roles.ts. */
const PARENTS = ['sessions', 'messages', 'outbound_messages', 'events', 'deliveries', 'cards', 'card_events'];
const PARENT_LIST = PARENTS.map((name) => `'${name}'`).join(', ');
const SHORTEST_RETENTION_DAYS = 4;
const DROP_LOCK_TIMEOUT_MS = 200;

/** Names of partitions have four digits of year and no era: 2026-11-22 BC, long past, has the name of 2026-11-22. */
const CHECK_DAY = `
    IF (day >= DATE '2000-01-01') IS NOT TRUE THEN
      RAISE EXCEPTION 'there is no partition of %', day;
    END IF;`;

const dropFunction = (searchPath: string, checkDay: string): string => `
  CREATE OR REPLACE FUNCTION drop_day_partition(parent text, day date, retention_days integer) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = ${searchPath} SET lock_timeout = '${DROP_LOCK_TIMEOUT_MS}ms' AS $$
  DECLARE
    today CONSTANT date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    partition CONSTANT text := parent || '_p' || to_char(day, 'YYYYMMDD');
    is_pending boolean;
  BEGIN
    IF (parent = ANY (ARRAY[${PARENT_LIST}])) IS NOT TRUE THEN
      RAISE EXCEPTION 'table % has no day partitions', parent;
    END IF;${checkDay}
    IF session_user <> current_user
      AND (retention_days >= ${SHORTEST_RETENTION_DAYS} AND day < today - retention_days) IS NOT TRUE THEN
      RAISE EXCEPTION 'partitions are dropped after ${SHORTEST_RETENTION_DAYS} days or more, not that of % after %',
        day, retention_days;
    END IF;
    SELECT inhdetachpending INTO is_pending FROM pg_inherits
    WHERE inhrelid = to_regclass(quote_ident(partition)) AND inhparent = parent::regclass;
    IF FOUND THEN
      EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, partition)
        || CASE WHEN is_pending THEN ' FINALIZE' ELSE '' END;
    END IF;
    EXECUTE format('DROP TABLE IF EXISTS %I', partition);
  END $$`;

/**
 * No day before the year 2000 is dropped: a day BC passed the check of the retention and dropped the partition of the
 * same day AD. Rights on the function stay as they are.
 */
export class PartitionDays1700000000016 implements MigrationInterface {
  readonly name = 'PartitionDays1700000000016';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(dropFunction(await searchPathOf(runner), CHECK_DAY));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(dropFunction(await searchPathOf(runner), ''));
  }
}

/** The owner's schema, then nothing that a caller can write to before it: pg_temp comes last. */
async function searchPathOf(runner: QueryRunner): Promise<string> {
  const [row] = (await runner.query('SELECT quote_ident(current_schema()) AS schema')) as { schema: string }[];
  return `${row?.schema ?? 'public'}, pg_temp`;
}
