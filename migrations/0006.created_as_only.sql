-- PUT without id and key creates a resource if the project has none without a key. Of those that race to do so only one may,
-- so each marks what it creates, and the index of the next migration refuses a second mark. Nothing else reads the mark.
-- depends: 0005.one_process

SET LOCAL lock_timeout = '2s';
SET LOCAL statement_timeout = '30s';

ALTER TABLE resource ADD COLUMN IF NOT EXISTS created_as_only boolean NOT NULL DEFAULT false;

-- The column "unnamed" stays for processes of the release before, which write it. This one does not, nor does it copy it.
ALTER TABLE resource_copy ALTER COLUMN unnamed SET DEFAULT false;
