-- What a project expects of its client, and which runs there were before a restart: what they had counted is gone with it.
-- depends: 0009.orders_alone

SET LOCAL lock_timeout = '2s';
SET LOCAL statement_timeout = '30s';

-- A JSON array with the ids of findings that are expected.
ALTER TABLE sandbox_project ADD COLUMN allow text NOT NULL DEFAULT '[]';

CREATE TABLE sandbox_run (run text COLLATE "C" PRIMARY KEY);
