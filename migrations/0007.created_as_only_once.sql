-- In a file of its own: while it reads the table to build the index, others only wait to write. On a large table add the
-- column of the migration before and this index by hand beforehand, with CREATE UNIQUE INDEX CONCURRENTLY.
-- depends: 0006.created_as_only

SET LOCAL lock_timeout = '2s';
SET LOCAL statement_timeout = '1min';

CREATE UNIQUE INDEX IF NOT EXISTS resource_created_as_only ON resource (project_key)
    WHERE created_as_only AND key IS NULL;
