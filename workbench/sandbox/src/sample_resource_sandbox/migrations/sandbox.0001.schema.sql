-- The sandbox: throwaway projects for tests of clients. Their resources, words and clients are in the tables of the service.

SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '1min';

CREATE TABLE sandbox_project (
    project_key   text COLLATE "C" PRIMARY KEY,
    client_id     text COLLATE "C" NOT NULL UNIQUE,
    created_at    timestamptz(3) NOT NULL,
    expires_at    timestamptz(3) NOT NULL,
    -- While the project is being removed, no request reaches it any more.
    is_removed    boolean NOT NULL DEFAULT false,
    -- JSON: the last bodies of PUT .../clock and PUT .../ids, with their times. A reset restores the initial ones.
    clock         text NOT NULL,
    ids           text NOT NULL,
    initial_clock text NOT NULL,
    initial_ids   text NOT NULL,
    -- The run of tests to which the project belongs.
    run           text COLLATE "C",
    -- JSON: the findings that are expected of the project's client.
    allow         text NOT NULL DEFAULT '[]'
);
CREATE INDEX sandbox_project_expires_at ON sandbox_project (expires_at);

-- A rule can revoke all tokens of a project's client.
CREATE INDEX access_token_client_id ON access_token (client_id);

-- The counts of a run are only in memory. After a restart, its name shows that the counts are incomplete.
CREATE TABLE sandbox_run (
    run text COLLATE "C" PRIMARY KEY
);

-- The number of ids made from a project's seed. It is stored, because an id that is made twice would be refused.
CREATE TABLE sandbox_ids (
    project_key text COLLATE "C" PRIMARY KEY,
    made        bigint NOT NULL
) WITH (fillfactor = 50);

-- The resources with which a project began, for a reset. A row is stored as JSON, so that a new column of the table
-- resource needs no new column here.
CREATE TABLE sandbox_copy (
    project_key text COLLATE "C" NOT NULL,
    id          uuid NOT NULL,
    stored      jsonb NOT NULL,
    CONSTRAINT sandbox_copy_pkey PRIMARY KEY (project_key, id)
);
