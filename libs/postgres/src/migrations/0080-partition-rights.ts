import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The tables that have day partitions. */
const PARENTS = ['sessions', 'messages', 'outbound_messages', 'events', 'deliveries', 'cards', 'card_events'];

/** Ids of a day: from `low` up to, but not, `high`. An id begins with the 48 bits of its unix millisecond. */
const firstId = (day: string): string =>
  `(lpad(to_hex((extract(epoch FROM ${day}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;

/** Grants on the partition every privilege that a role other than the owner has on the table or its columns. */
const GRANT_AS_PARENT = `
    FOR statement IN
      SELECT format('GRANT %s ON %I TO %s', string_agg(acl.privilege_type, ', '), partition, acl.grantee::regrole)
      FROM pg_class CROSS JOIN aclexplode(relacl) AS acl
      WHERE oid = parent::regclass AND acl.grantee NOT IN (0, relowner) GROUP BY acl.grantee
      UNION ALL
      SELECT format('GRANT %s (%s) ON %I TO %s', acl.privilege_type, string_agg(quote_ident(attname), ', '), partition,
        acl.grantee::regrole)
      FROM pg_attribute CROSS JOIN aclexplode(attacl) AS acl
      WHERE attrelid = parent::regclass AND NOT attisdropped AND acl.grantee <> 0 GROUP BY acl.grantee, acl.privilege_type
    LOOP EXECUTE statement; END LOOP;`;

/** As in 0013-database-roles.ts but for the rights. */
const makeFunction = (searchPath: string, grants: string): string => `
  CREATE OR REPLACE FUNCTION make_day_partition(parent text, day date) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = ${searchPath} AS $$
  DECLARE
    today CONSTANT date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    partition CONSTANT text := parent || '_p' || to_char(day, 'YYYYMMDD');
    statement text;
  BEGIN
    IF (parent = ANY (ARRAY[${PARENTS.map((name) => `'${name}'`).join(', ')}])) IS NOT TRUE THEN
      RAISE EXCEPTION 'table % has no day partitions', parent;
    END IF;
    IF session_user <> current_user AND (day BETWEEN today - 2 AND today + 9) IS NOT TRUE THEN
      RAISE EXCEPTION 'partitions are made for 2 days back to 9 days ahead, not for %', day;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', partition, parent);
    IF parent = 'sessions' THEN
      EXECUTE format('CREATE UNIQUE INDEX %I ON %I (token_digest)', partition || '_token_digest', partition);
    END IF;${grants}
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition,
      ${firstId('day')}, ${firstId('(day + 1)')});
  END $$`;

/**
 * Frequent statements name the partition of a day, so the roles of daemons have on a partition the rights that they have on its
 * table. Those of partitions that exist are granted after the migrations (daemon-role.ts).
 */
export class PartitionRights1700000000080 implements MigrationInterface {
  readonly name = 'PartitionRights1700000000080';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(makeFunction(await searchPathOf(runner), GRANT_AS_PARENT));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(makeFunction(await searchPathOf(runner), ''));
  }
}

/** The owner's schema, then nothing that a caller can write to before it: pg_temp comes last. */
async function searchPathOf(runner: QueryRunner): Promise<string> {
  const [row] = (await runner.query('SELECT quote_ident(current_schema()) AS schema')) as { schema: string }[];
  return `${row?.schema ?? 'public'}, pg_temp`;
}
