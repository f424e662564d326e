import pg from 'pg';

const quoted = (name: string): string => pg.escapeIdentifier(name);

/** The functions of migrations/0013-database-roles.ts. */
const MAKE_FUNCTION = 'make_day_partition(text, date)';
const DROP_FUNCTION = 'drop_day_partition(text, date, integer)';

/** Lets the role make partitions, and drop them or not: the caller of that function names the retention. */
export const partitionGrants = (role: string, mayDrop: boolean): string[] => [
  `GRANT EXECUTE ON FUNCTION ${MAKE_FUNCTION} TO ${quoted(role)}`,
  mayDrop
    ? `GRANT EXECUTE ON FUNCTION ${DROP_FUNCTION} TO ${quoted(role)}`
    : `REVOKE ALL ON FUNCTION ${DROP_FUNCTION} FROM ${quoted(role)} CASCADE`,
];

/**
 * Use of the schema and of what is created in it later, as far as the role has rights on tables that nobody named. PUBLIC
 * may create tables in `public` before PostgreSQL 15; only the owner of the schema can take that away, for others the
 * REVOKE is a warning.
 */
export const schemaGrants = (schema: string, role: string, privileges: readonly string[]): string[] => [
  `GRANT USAGE ON SCHEMA ${quoted(schema)} TO ${quoted(role)}`,
  `REVOKE CREATE ON SCHEMA ${quoted(schema)} FROM PUBLIC`,
  ...(privileges.length === 0
    ? []
    : [
        `ALTER DEFAULT PRIVILEGES IN SCHEMA ${quoted(schema)} GRANT ${privileges.join(', ')} ON TABLES TO ${quoted(role)}`,
        `ALTER DEFAULT PRIVILEGES IN SCHEMA ${quoted(schema)} GRANT USAGE, SELECT ON SEQUENCES TO ${quoted(role)}`,
      ]),
];

/** Tables that the caller owns, or may act on as their owner. */
const OWNED_BY_CALLER = `pg_has_role(c.relowner, 'USAGE')`;
/** Tables of the role that owns the product's tables, whoever asks. */
const OWNED_BY_OWNER = `c.relowner = (SELECT relowner FROM pg_class WHERE oid = 'migrations'::regclass)`;

/**
 * Ordinary and partitioned tables of the schema, with the rights that the role is wished to have on each (TableRights as
 * JSON). $1 schema, $2 role, $3 rights by the name of the table, $4 those on all others. A partition has those of its table.
 */
const wishes = (owned: string): string => `
  wishes AS (
    SELECT c.oid, c.relname, c.relowner, c.relacl,
      coalesce($3::jsonb -> coalesce(parent.relname, c.relname)::text, $4::jsonb) AS wish
    FROM pg_class c LEFT JOIN pg_inherits ON inhrelid = c.oid LEFT JOIN pg_class parent ON parent.oid = inhparent
    WHERE c.relnamespace = quote_ident($1)::regnamespace AND c.relkind IN ('r', 'p') AND ${owned}
  )`;

/** Whether a privilege is wished for on the whole table. */
const onTable = (privilege: string, wish = 'wish'): string => `coalesce(${wish} -> ${privilege} = 'true', false)`;
/** Whether it is wished for on that column. */
const onColumn = (privilege: string, column: string): string =>
  `coalesce(wish -> ${privilege} ? ${column}::text, false)`;

/**
 * REVOKE statements for what the role or PUBLIC was granted beyond the wish: whole tables, columns, grant options, and
 * the default privileges of tables that are made later. PUBLIC is wished to have nothing. A REVOKE on a table revokes
 * the same privilege on its columns; those that are wished for are granted again. CASCADE: what the role granted to others
 * goes, too. Parameters as for the wishes.
 */
export const FIND_EXCESS_GRANTS = `
  WITH ${wishes(OWNED_BY_CALLER)},
  held AS (
    SELECT oid, wish, NULL::name AS attname, acl.* FROM wishes CROSS JOIN aclexplode(relacl) AS acl
    UNION ALL
    SELECT oid, wish, attname, acl.* FROM wishes JOIN pg_attribute ON attrelid = oid CROSS JOIN aclexplode(attacl) AS acl
  ),
  judged AS (
    SELECT oid, grantee, privilege_type, is_grantable,
      grantee <> 0 AND (${onTable('privilege_type')} OR ${onColumn('privilege_type', 'attname')}) AS wanted
    FROM held WHERE grantee IN (0, quote_ident($2)::regrole)
  ),
  later AS (
    SELECT CASE defaclnamespace WHEN 0 THEN '' ELSE format('IN SCHEMA %I', $1) END AS place, acl.*
    FROM pg_default_acl CROSS JOIN aclexplode(defaclacl) AS acl
    WHERE defaclrole = current_user::regrole AND defaclobjtype = 'r'
      AND defaclnamespace IN (0, quote_ident($1)::regnamespace)
      AND (grantee = 0 OR grantee = quote_ident($2)::regrole AND NOT ${onTable('privilege_type', '$4::jsonb')})
  )
  SELECT format('REVOKE %s %s ON %s FROM %s CASCADE', CASE WHEN wanted THEN 'GRANT OPTION FOR' END,
    string_agg(DISTINCT privilege_type, ', '), oid::regclass, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident($2) END)
    AS statement
  FROM judged WHERE is_grantable OR NOT wanted GROUP BY oid, grantee, wanted
  UNION ALL
  SELECT format('ALTER DEFAULT PRIVILEGES %s REVOKE %s ON TABLES FROM %s', place,
    string_agg(DISTINCT privilege_type, ', '), CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident($2) END)
  FROM later GROUP BY place, grantee`;

/** GRANT statements for what the role lacks, so that a run without changes writes nothing. Parameters as for the wishes. */
export const FIND_MISSING_GRANTS = `
  WITH ${wishes(OWNED_BY_CALLER)}
  SELECT format('GRANT %s ON %s TO %I', privilege, oid::regclass, $2::name) AS statement
  FROM wishes CROSS JOIN jsonb_each(wish) AS wanted (privilege, columns)
  WHERE columns = 'true' AND NOT has_table_privilege($2::name, oid, privilege)
  UNION ALL
  SELECT format('GRANT %s (%s) ON %s TO %I', privilege, string_agg(quote_ident(attname), ', '), oid::regclass, $2::name)
  FROM wishes CROSS JOIN jsonb_each(wish) AS wanted (privilege, columns)
    JOIN pg_attribute ON attrelid = oid AND attnum > 0 AND NOT attisdropped
  -- CASE: has_column_privilege throws for DELETE, and the terms of an AND have no order.
  WHERE CASE WHEN columns ? attname::text THEN NOT has_column_privilege($2::name, oid, attnum, privilege) ELSE false END
  GROUP BY oid, privilege
  UNION ALL
  SELECT format('GRANT USAGE, SELECT ON SEQUENCE %s TO %I', oid::regclass, $2::name)
  FROM pg_class WHERE relnamespace = quote_ident($1)::regnamespace AND relkind = 'S'
    AND relname <> 'migrations_id_seq' AND NOT (has_sequence_privilege($2::name, oid, 'USAGE') AND has_sequence_privilege($2::name, oid, 'SELECT'))`;

/** The role that connected (not the one of ALTER ROLE … SET role), and the schema of the tables. */
export const CONNECTED_ROLE = `SELECT session_user::text AS role, current_schema()::text AS schema`;

/** Whether gateways have a role of their own: rights on single columns of API keys are granted to that role alone. */
export const HAS_GATEWAY_ROLE = `
  SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'api_keys'::regclass AND attname = 'digest_version'
    AND attacl IS NOT NULL) AS "exists"`;

/**
 * Settings that ALTER DATABASE and ALTER ROLE ALL can give to every session of the role, and that change whose rights it has,
 * which tables a statement means, or which checks and triggers are run. Settings of the role itself are all named: daemons
 * do not use them, and who had the role may have left them.
 */
const RISKY_SETTINGS = [
  'role',
  'search_path',
  'row_security',
  'session_replication_role',
  'session_preload_libraries',
  'local_preload_libraries',
  'default_transaction_isolation',
  'default_transaction_read_only',
  'standard_conforming_strings',
];

/**
 * The statement that takes temporary tables from the role of $1: behind a pooler these stay on a connection that other clients use.
 * No row if it may create none. Any role may ask.
 */
export const FIND_TEMPORARY = `
  SELECT format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC, %I', current_database(), $1::name) AS statement
  WHERE has_database_privilege($1::name, current_database(), 'TEMPORARY')
    AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = $1::name)`;

/** Tables that one sentence names. */
const NAMED_TABLES = 5;

/**
 * One sentence for each kind of fault, with whether the role can change or remove audit entries by it. Rights on tables
 * count on whole tables and on columns, and whoever holds them: the role, PUBLIC, or a role that it is a member of
 * (inherited or by SET ROLE). `kinds` are those of the server: MAINTAIN exists since PostgreSQL 17. The owner's rights
 * by membership are one fault of their own, not one for each table. Parameters as for the wishes; any role may ask.
 */
export const FIND_FAULTS = `
  WITH ${wishes(OWNED_BY_OWNER)},
  kinds AS (SELECT DISTINCT privilege_type AS kind FROM aclexplode(acldefault('r', current_user::regrole))),
  holders AS (
    SELECT 'public'::name AS holder, 0::oid AS holder_oid
    UNION ALL
    SELECT m.rolname, m.oid FROM pg_roles r JOIN pg_roles m ON pg_has_role(r.oid, m.oid, 'MEMBER')
    WHERE r.rolname = $2::name AND NOT r.rolsuper
  ),
  rights AS (
    SELECT relname, kind, CASE WHEN bool_or(holder_oid = 0) THEN 'PUBLIC'
      ELSE coalesce(string_agg(holder, ', ' ORDER BY holder) FILTER (WHERE holder <> $2::name), $2::name) END AS source
    FROM wishes CROSS JOIN kinds CROSS JOIN holders
    WHERE NOT ${onTable('kind')} AND holder_oid <> relowner
      AND CASE WHEN kind IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
        THEN has_any_column_privilege(holder, oid, kind) AND EXISTS (
          SELECT FROM pg_attribute WHERE attrelid = oid AND attnum > 0 AND NOT attisdropped
            AND NOT ${onColumn('kind', 'attname')} AND has_column_privilege(holder, oid, attnum, kind))
        ELSE has_table_privilege(holder, oid, kind) END
    GROUP BY relname, kind
  ),
  by_table AS (
    SELECT relname, source, string_agg(kind, ', ' ORDER BY kind) AS kinds FROM rights GROUP BY relname, source
  ),
  by_kinds AS (
    SELECT kinds, source, array_agg(relname::text ORDER BY relname) AS tables,
      (relname = 'audit_entries') AND kinds NOT IN ('INSERT', 'SELECT', 'INSERT, SELECT') AS "onAudit"
    FROM by_table GROUP BY kinds, source, relname = 'audit_entries'
  )
  SELECT fault, "onAudit" FROM pg_roles r CROSS JOIN LATERAL (VALUES
    (rolsuper, true, 'it is a superuser'),
    (rolcreaterole, false, 'it may create roles'),
    (rolcreatedb, false, 'it may create databases'),
    (rolbypassrls OR rolreplication, false, 'it may replicate or bypass row security'),
    (NOT rolsuper AND pg_has_role(r.oid, (SELECT relowner FROM pg_class WHERE oid = 'migrations'::regclass), 'MEMBER'),
      true, CASE WHEN r.oid = (SELECT relowner FROM pg_class WHERE oid = 'migrations'::regclass)
        THEN 'it owns the tables' ELSE 'it is a member of the role that owns the tables' END),
    (NOT rolsuper AND has_schema_privilege(r.oid, $1, 'CREATE'), false,
      format('it may create tables in the schema %I: REVOKE CREATE ON SCHEMA %1$I FROM PUBLIC as the owner of the schema',
        $1))
  ) AS found (present, "onAudit", fault)
  WHERE rolname = $2::name AND present
  UNION ALL
  SELECT format('it has %s on %s%s, granted to %s', kinds, array_to_string(tables[:${NAMED_TABLES}], ', '),
    CASE WHEN cardinality(tables) > ${NAMED_TABLES}
      THEN format(' and %s more tables', cardinality(tables) - ${NAMED_TABLES}) ELSE '' END, source), "onAudit"
  FROM by_kinds
  UNION ALL
  SELECT format('its sessions begin with %s, which %s RESET %s undoes', setting,
    CASE WHEN setrole = 0 THEN CASE WHEN setdatabase = 0 THEN 'ALTER ROLE ALL' ELSE format('ALTER DATABASE %I', current_database()) END
      ELSE format('ALTER ROLE %I%s', $2, CASE WHEN setdatabase = 0 THEN '' ELSE format(' IN DATABASE %I', current_database()) END) END,
    split_part(setting, '=', 1)), false
  FROM pg_db_role_setting CROSS JOIN unnest(setconfig) AS setting
  WHERE setrole IN (0, quote_ident($2)::regrole)
    AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    AND (setrole <> 0 OR split_part(setting, '=', 1) IN (${RISKY_SETTINGS.map((name) => `'${name}'`).join(', ')}))
    AND setting <> 'log_error_verbosity=terse'
    AND NOT (setrole = 0 AND setting IN ('search_path=' || $1, 'search_path=' || quote_ident($1)))`;
