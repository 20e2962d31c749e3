-- The sandbox: throwaway projects of those who test clients. Beside a project, its resources, words and client are the service's.

SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '1min';

CREATE TABLE sandbox_project (
    project_key   text COLLATE "C" PRIMARY KEY,
    client_id     text COLLATE "C" NOT NULL UNIQUE,
    created_at    timestamptz(3) NOT NULL,
    expires_at    timestamptz(3) NOT NULL,
    -- While the project is being removed, no request reaches it any more.
    is_removed    boolean NOT NULL DEFAULT false,
    -- JSON: what PUT .../clock and PUT .../ids were sent, and when; the initial ones return with a reset.
    clock         text NOT NULL,
    ids           text NOT NULL,
    initial_clock text NOT NULL,
    initial_ids   text NOT NULL,
    -- A token is accepted if it was issued in this epoch.
    token_epoch   bigint NOT NULL DEFAULT 0,
    -- JSON: the named snapshots, with the number of ids that had been made.
    snapshots     text NOT NULL DEFAULT '{}',
    -- The run of tests that the project counts for.
    run           text COLLATE "C",
    -- JSON: the findings that are expected of the project's client.
    allow         text NOT NULL DEFAULT '[]'
);
CREATE INDEX sandbox_project_expires_at ON sandbox_project (expires_at);

-- What a run has counted lies in memory. Its name tells a run that a restart has cut.
CREATE TABLE sandbox_run (
    run text COLLATE "C" PRIMARY KEY
);

-- How many ids a seed has made. Durable, since an id that is made twice is refused.
CREATE TABLE sandbox_ids (
    project_key text COLLATE "C" PRIMARY KEY,
    made        bigint NOT NULL
) WITH (fillfactor = 50);

-- Copies of all resources of a project, under a name: what was written to their rows, as JSON, so that a column that resource
-- gets is none here.
CREATE TABLE sandbox_copy (
    project_key text COLLATE "C" NOT NULL,
    name        text COLLATE "C" NOT NULL,
    id          uuid NOT NULL,
    stored      jsonb NOT NULL,
    CONSTRAINT sandbox_copy_pkey PRIMARY KEY (project_key, name, id)
);
