import pg from 'pg';

const quoted = (name: string): string => pg.escapeIdentifier(name);

/** The functions of migrations/0013-database-roles.ts. */
export const OWNED_FUNCTIONS = ['make_day_partition(text, date)', 'drop_day_partition(text, date, integer)'];

export const grantFunction = (name: string, role: string): string =>
  `GRANT EXECUTE ON FUNCTION ${name} TO ${quoted(role)}`;

/**
 * Use of the schema and of what is created in it later. PUBLIC may create tables in `public` before PostgreSQL 15; only
 * the owner of the schema can take that away, for others the REVOKE is a warning.
 */
export const schemaGrants = (schema: string, role: string): string[] => [
  `GRANT USAGE ON SCHEMA ${quoted(schema)} TO ${quoted(role)}`,
  `REVOKE CREATE ON SCHEMA ${quoted(schema)} FROM PUBLIC`,
  `ALTER DEFAULT PRIVILEGES IN SCHEMA ${quoted(schema)} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${quoted(role)}`,
  `ALTER DEFAULT PRIVILEGES IN SCHEMA ${quoted(schema)} GRANT USAGE, SELECT ON SEQUENCES TO ${quoted(role)}`,
];

/**
 * Ordinary and partitioned tables of the schema that the caller owns, with the privileges that the role should have.
 * $1 schema, $2 role, $3 names of restricted tables, $4 their privileges (comma-separated each), $5 those of all
 * others.
 */
const WISHES = `
  wishes AS (
    SELECT c.oid, c.relname, c.relowner, c.relacl,
      string_to_array(coalesce(restricted.privileges, $5), ',') AS privileges
    FROM pg_class c
    LEFT JOIN unnest($3::text[], $4::text[]) AS restricted (name, privileges) ON restricted.name = c.relname
    WHERE c.relnamespace = quote_ident($1)::regnamespace AND c.relkind IN ('r', 'p')
      AND pg_has_role(c.relowner, 'USAGE')
  )`;

/**
 * REVOKE statements for privileges of the role or PUBLIC beyond the wanted ones: whole tables, columns, grant
 * options, and the default privileges of future tables. PUBLIC should have none. A REVOKE on a table revokes the same
 * privilege on its columns. CASCADE: grants by the role to others are revoked too. Parameters as for WISHES.
 */
export const FIND_EXCESS_GRANTS = `
  WITH ${WISHES},
  held AS (
    SELECT oid, privileges, acl.* FROM wishes CROSS JOIN aclexplode(relacl) AS acl
    UNION ALL
    SELECT oid, privileges, acl.* FROM wishes JOIN pg_attribute ON attrelid = oid CROSS JOIN aclexplode(attacl) AS acl
  ),
  judged AS (
    SELECT oid, grantee, privilege_type, is_grantable, grantee <> 0 AND privilege_type = ANY (privileges) AS wanted
    FROM held WHERE grantee IN (0, quote_ident($2)::regrole)
  ),
  later AS (
    SELECT CASE defaclnamespace WHEN 0 THEN '' ELSE format('IN SCHEMA %I', $1) END AS place, acl.*
    FROM pg_default_acl CROSS JOIN aclexplode(defaclacl) AS acl
    WHERE defaclrole = current_user::regrole AND defaclobjtype = 'r'
      AND defaclnamespace IN (0, quote_ident($1)::regnamespace)
      AND (grantee = 0 OR grantee = quote_ident($2)::regrole AND privilege_type <> ALL (string_to_array($5, ',')))
  )
  SELECT format('REVOKE %s %s ON %s FROM %s CASCADE', CASE WHEN wanted THEN 'GRANT OPTION FOR' END,
    string_agg(DISTINCT privilege_type, ', '), oid::regclass, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident($2) END)
    AS statement
  FROM judged WHERE is_grantable OR NOT wanted GROUP BY oid, grantee, wanted
  UNION ALL
  SELECT format('ALTER DEFAULT PRIVILEGES %s REVOKE %s ON TABLES FROM %s', place,
    string_agg(DISTINCT privilege_type, ', '), CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident($2) END)
  FROM later GROUP BY place, grantee`;

/**
 * GRANT statements for missing privileges only, so that a run without changes writes nothing. Parameters as for
 * WISHES.
 */
export const FIND_MISSING_GRANTS = `
  WITH ${WISHES}
  SELECT format('GRANT %s ON %s TO %I', privilege, oid::regclass, $2::name) AS statement
  FROM wishes CROSS JOIN unnest(privileges) AS privilege WHERE NOT has_table_privilege($2::name, oid, privilege)
  UNION ALL
  SELECT format('GRANT USAGE, SELECT ON SEQUENCE %s TO %I', oid::regclass, $2::name)
  FROM pg_class WHERE relnamespace = quote_ident($1)::regnamespace AND relkind = 'S'
    AND relname <> 'migrations_id_seq' AND NOT (has_sequence_privilege($2::name, oid, 'USAGE') AND has_sequence_privilege($2::name, oid, 'SELECT'))`;

/** Maximum number of tables named in one sentence. */
const NAMED_TABLES = 5;

/**
 * One sentence per kind of fault, with whether it lets the role change or remove audit entries. Privileges on tables
 * count on whole tables and on columns, and through any holder: the role, PUBLIC, or a role of which it is a member
 * (inherited or by SET ROLE). `kinds` are those of the server: MAINTAIN exists since PostgreSQL 17. The owner's
 * privileges by membership are one fault, not one per table. Parameters as for WISHES.
 */
export const FIND_FAULTS = `
  WITH ${WISHES},
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
    WHERE kind <> ALL (privileges) AND holder_oid <> relowner
      AND CASE WHEN kind IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
        THEN has_any_column_privilege(holder, oid, kind) ELSE has_table_privilege(holder, oid, kind) END
    GROUP BY relname, kind
  ),
  by_table AS (
    SELECT relname, source, string_agg(kind, ', ' ORDER BY kind) AS kinds FROM rights GROUP BY relname, source
  ),
  by_kinds AS (
    SELECT kinds, source, relname = 'audit_entries' AS "onAudit", array_agg(relname::text ORDER BY relname) AS tables
    FROM by_table GROUP BY kinds, source, relname = 'audit_entries'
  )
  SELECT fault, "onAudit" FROM pg_roles r CROSS JOIN LATERAL (VALUES
    (rolsuper, true, 'it is a superuser'),
    (rolcreaterole, false, 'it may create roles'),
    (rolcreatedb, false, 'it may create databases'),
    (rolbypassrls OR rolreplication, false, 'it may replicate or bypass row security'),
    (NOT rolsuper AND pg_has_role(r.oid, (SELECT relowner FROM pg_class WHERE oid = 'migrations'::regclass), 'MEMBER'),
      true, 'it is a member of the role that owns the tables'),
    (NOT rolsuper AND has_schema_privilege(r.oid, $1, 'CREATE'), false,
      format('it may create tables in the schema %I: REVOKE CREATE ON SCHEMA %1$I FROM PUBLIC as the owner of the schema',
        $1))
  ) AS found (present, "onAudit", fault)
  WHERE rolname = $2::name AND present
  UNION ALL
  SELECT format('it has %s on %s%s, granted to %s', kinds, array_to_string(tables[:${NAMED_TABLES}], ', '),
    CASE WHEN cardinality(tables) > ${NAMED_TABLES}
      THEN format(' and %s more tables', cardinality(tables) - ${NAMED_TABLES}) ELSE '' END, source), "onAudit"
  FROM by_kinds`;
