-- The roles of a database of Countersign, none of them a superuser: countersign_owner owns the tables and migrates,
-- control planes connect as countersign_app and gateways as countersign_gateway. Without countersign.gateway_password that
-- role is neither made nor changed, and gateways connect as countersign_app, too. Run by a superuser, as often as you like,
-- in the database itself:
--   psql --dbname=countersign --set=ON_ERROR_STOP=1
--   \prompt 'Password of countersign_owner: ' password
--   SELECT set_config('countersign.owner_password', :'password', false) \g /dev/null
--   (the same with countersign.app_password and countersign.gateway_password)
--   \i roles.sql
-- A password on the command line is shown to every account of the computer; config/docker/postgres-roles.sh reads them from
-- the environment.
-- What an earlier release made as a superuser changes hands. Settings of the three roles (ALTER ROLE … SET) are removed: give
-- them to the database (ALTER DATABASE … SET).
DO $$
DECLARE
  made record;
BEGIN
  FOR made IN
    SELECT * FROM (VALUES
      ('countersign_owner', current_setting('countersign.owner_password')),
      ('countersign_app', current_setting('countersign.app_password')),
      ('countersign_gateway', nullif(current_setting('countersign.gateway_password', true), ''))
    ) AS roles (name, password)
    WHERE password IS NOT NULL
  LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = made.name) THEN
      EXECUTE format('CREATE ROLE %I', made.name);
    END IF;
    EXECUTE format(
      'ALTER ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD %L',
      made.name, made.password);
    -- A role may give settings to its own later sessions. Daemons use none; one that somebody left is removed here.
    EXECUTE format('ALTER ROLE %I RESET ALL', made.name);
    EXECUTE format('ALTER ROLE %I IN DATABASE %I RESET ALL', made.name, current_database());
    -- Without it the server's log has the row of a violated constraint, with phone numbers.
    EXECUTE format('ALTER ROLE %I SET log_error_verbosity = terse', made.name);
  END LOOP;

  EXECUTE format('ALTER DATABASE %I OWNER TO countersign_owner', current_database());
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO countersign_app', current_database());
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'countersign_gateway') THEN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO countersign_gateway', current_database());
  END IF;
  -- Large objects are in no table, so no retention removes them, and no daemon uses them. These functions write them.
  FOR made IN
    SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', oid::regprocedure) AS statement
    FROM pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace
      AND proname IN ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_put', 'lo_truncate', 'lo_truncate64', 'lowrite')
  LOOP
    EXECUTE made.statement;
  END LOOP;
  ALTER SCHEMA public OWNER TO countersign_owner;
  REVOKE CREATE ON SCHEMA public FROM PUBLIC;

  -- BullMQ's schema, tables (a sequence that belongs to a column goes with its table), types and functions.
  FOR made IN
    SELECT format('ALTER SCHEMA %I OWNER TO countersign_owner', nspname) AS statement
    FROM pg_namespace WHERE nspname = 'bullmq' AND nspowner <> 'countersign_owner'::regrole
    UNION ALL
    SELECT format('ALTER %s %s OWNER TO countersign_owner', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
      oid::regclass)
    FROM pg_class
    WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'bullmq'))
      AND relkind IN ('r', 'p', 'S') AND relowner <> 'countersign_owner'::regrole
      AND NOT EXISTS (SELECT FROM pg_depend
        WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype IN ('a', 'i') AND relkind = 'S')
      AND NOT EXISTS (SELECT FROM pg_depend
        WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
    UNION ALL
    SELECT format('ALTER TYPE %s OWNER TO countersign_owner', oid::regtype)
    FROM pg_type
    WHERE typnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'bullmq'))
      AND typtype IN ('d', 'e') AND typowner <> 'countersign_owner'::regrole
    UNION ALL
    SELECT format('ALTER FUNCTION %s OWNER TO countersign_owner', oid::regprocedure)
    FROM pg_proc
    WHERE pronamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'bullmq'))
      AND proowner <> 'countersign_owner'::regrole
      AND NOT EXISTS (SELECT FROM pg_depend
        WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e')
  LOOP
    EXECUTE made.statement;
  END LOOP;
END $$;
