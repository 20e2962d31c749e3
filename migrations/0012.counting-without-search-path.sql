-- The functions of triggers find their table whatever the session's search_path. A dump of pg_dump sets it to nothing, so
-- a dump of the data alone could not be loaded into a migrated database.
-- depends: 0011.sandbox
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '1min';

-- Citus refuses FROM CURRENT.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION count_resources() SET search_path TO %I', current_schema());
    EXECUTE format('ALTER FUNCTION forget_resource_counts() SET search_path TO %I', current_schema());
END
$$;
