import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The tables whose day partitions these functions make and drop. */
const PARENTS = ['sessions', 'messages', 'outbound_messages', 'events', 'deliveries', 'cards', 'card_events'];
const PARENT_LIST = PARENTS.map((name) => `'${name}'`).join(', ');

/** No daemon may drop younger days, whatever retention it names: `RETENTION_DAYS` is at least this. */
const SHORTEST_RETENTION_DAYS = 4;
/** Inserts queue behind a pending lock request, so this timeout is short. */
const DROP_LOCK_TIMEOUT_MS = 200;

/**
 * Each function checks its arguments first: the table against the list above, the day against the database's clock. The
 * owner (who may do all of this without the functions) is exempt from the clock, so that a restored or tested database
 * can have other days. A null argument fails every check.
 */
const CHECK_PARENT = `
  IF (parent = ANY (ARRAY[${PARENT_LIST}])) IS NOT TRUE THEN
    RAISE EXCEPTION 'table % has no day partitions', parent;
  END IF;`;

/** Ids of a day: from `low` up to, but not, `high`. An id begins with the 48 bits of its unix millisecond. */
const FIRST_ID = (day: string): string =>
  `(lpad(to_hex((extract(epoch FROM ${day}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;

/**
 * The partition is created first and attached then: PARTITION OF would wait behind every open insert. Sessions get an
 * index that the table itself cannot have: a unique one on a partitioned table would have to hold the id.
 */
const makeFunction = (searchPath: string): string => `
  CREATE FUNCTION make_day_partition(parent text, day date) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = ${searchPath} AS $$
  DECLARE
    today CONSTANT date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    partition CONSTANT text := parent || '_p' || to_char(day, 'YYYYMMDD');
  BEGIN ${CHECK_PARENT}
    IF session_user <> current_user AND (day BETWEEN today - 2 AND today + 9) IS NOT TRUE THEN
      RAISE EXCEPTION 'partitions are made for 2 days back to 9 days ahead, not for %', day;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', partition, parent);
    IF parent = 'sessions' THEN
      EXECUTE format('CREATE UNIQUE INDEX %I ON %I (token_digest)', partition || '_token_digest', partition);
    END IF;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition,
      ${FIRST_ID('day')}, ${FIRST_ID('(day + 1)')});
  END $$`;

/** Detaches and drops in one transaction. DETACH CONCURRENTLY cannot run in a function; one that was begun is ended. */
const dropFunction = (searchPath: string): string => `
  CREATE FUNCTION drop_day_partition(parent text, day date, retention_days integer) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = ${searchPath} SET lock_timeout = '${DROP_LOCK_TIMEOUT_MS}ms' AS $$
  DECLARE
    today CONSTANT date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    partition CONSTANT text := parent || '_p' || to_char(day, 'YYYYMMDD');
    is_pending boolean;
  BEGIN ${CHECK_PARENT}
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

const FUNCTIONS = ['make_day_partition(text, date)', 'drop_day_partition(text, date, integer)'];

/**
 * The daemons' role makes and drops day partitions through functions of the owner. Who may call them is granted after
 * the migrations (daemon-role.ts).
 */
export class DatabaseRoles1700000000013 implements MigrationInterface {
  readonly name = 'DatabaseRoles1700000000013';

  async up(runner: QueryRunner): Promise<void> {
    const [row] = (await runner.query('SELECT quote_ident(current_schema()) AS schema')) as { schema: string }[];
    // The owner's schema, then nothing that a caller can write to before it: pg_temp comes last.
    const searchPath = `${row?.schema ?? 'public'}, pg_temp`;
    for (const statement of [makeFunction(searchPath), dropFunction(searchPath)]) await runner.query(statement);
    for (const name of FUNCTIONS) await runner.query(`REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of FUNCTIONS) await runner.query(`DROP FUNCTION ${name}`);
  }
}
