-- The unnamed resource of a project has no key. A mark on a resource that has one means nothing, also if a process of the
-- release before sets it during an update.
-- depends: 0003.runs

SET LOCAL lock_timeout = '2s';
SET LOCAL statement_timeout = '1min';

-- At most one row a project, found by the index that is dropped below. Processes of the release before would find two
-- unnamed resources otherwise, as soon as another one is made.
UPDATE resource SET unnamed = false WHERE unnamed AND key IS NOT NULL;

CREATE UNIQUE INDEX IF NOT EXISTS resource_unnamed_without_key ON resource (project_key) WHERE unnamed AND key IS NULL;
DROP INDEX resource_unnamed_unique;
