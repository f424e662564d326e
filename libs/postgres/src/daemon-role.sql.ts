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
 * GRANT and REVOKE statements for what differs from the wish, so that a run without changes writes nothing.
 * $1 schema, $2 role, $3 names of restricted tables, $4 their privileges (comma-separated each), $5 those of all others.
 */
export const FIND_MISSING_GRANTS = `
  WITH kinds AS (SELECT unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege),
  wished AS (
    SELECT c.oid, privilege,
      privilege = ANY (string_to_array(coalesce(restricted.privileges, $5), ',')) AS wanted
    FROM pg_class c CROSS JOIN kinds
    LEFT JOIN unnest($3::text[], $4::text[]) AS restricted (name, privileges) ON restricted.name = c.relname
    WHERE c.relnamespace = quote_ident($1)::regnamespace AND c.relkind IN ('r', 'p')
      AND pg_has_role(c.relowner, 'USAGE')
  )
  SELECT CASE WHEN wanted THEN format('GRANT %s ON %s TO %I', privilege, oid::regclass, $2::name)
    ELSE format('REVOKE %s ON %s FROM %I', privilege, oid::regclass, $2::name) END AS statement
  FROM wished WHERE has_table_privilege($2::name, oid, privilege) <> wanted
  UNION ALL
  SELECT format('GRANT USAGE, SELECT ON SEQUENCE %s TO %I', oid::regclass, $2::name)
  FROM pg_class WHERE relnamespace = quote_ident($1)::regnamespace AND relkind = 'S'
    AND relname <> 'migrations_id_seq' AND NOT (has_sequence_privilege($2::name, oid, 'USAGE') AND has_sequence_privilege($2::name, oid, 'SELECT'))`;

/** $1 role. */
export const FIND_FAULTS = `
  SELECT fault FROM pg_roles r CROSS JOIN LATERAL (VALUES
    (rolsuper, 'it is a superuser'),
    (rolcreaterole, 'it may create roles'),
    (rolcreatedb, 'it may create databases'),
    (rolbypassrls OR rolreplication, 'it may replicate or bypass row security'),
    (NOT rolsuper AND pg_has_role(r.oid, (SELECT relowner FROM pg_class WHERE oid = 'migrations'::regclass), 'MEMBER'),
      'it is a member of the role that owns the tables'),
    (NOT rolsuper AND has_schema_privilege(r.oid, current_schema()::text, 'CREATE'),
      format('it may create tables in the schema %I: REVOKE CREATE ON SCHEMA %1$I FROM PUBLIC as the owner of the schema',
        current_schema()))
  ) AS found (present, fault)
  WHERE rolname = $1 AND present`;
