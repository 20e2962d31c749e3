-- The sandbox: throwaway projects of those who test clients, and what is known of them.
--
-- Projects, copies and the ids made so far are durable. The journal and the counts are UNLOGGED: they are written with
-- every request, and a crash of the server may empty them. On a distributed PostgreSQL the list of projects is a
-- reference table, as that of clients is; the other tables are distributed by project_key, beside resource.
-- depends: 0010.array-values

SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '1min';

-- Clients that were deleted. Their tokens may be valid otherwise, so they stay refused.
CREATE TABLE removed_client (
    id         text COLLATE "C" PRIMARY KEY,
    removed_at timestamptz(3) NOT NULL
);

-- Copies of all resources of a project, under a name.
CREATE TABLE resource_copy (
    project_key          text COLLATE "C" NOT NULL,
    name                 text COLLATE "C" NOT NULL,
    id                   uuid NOT NULL,
    version              bigint NOT NULL,
    key                  text COLLATE "C",
    created_at           timestamptz(3) NOT NULL,
    last_modified_at     timestamptz(3) NOT NULL,
    created_by           text COLLATE "C" NOT NULL,
    last_modified_by     text COLLATE "C" NOT NULL,
    object_type          text COLLATE "C" NOT NULL,
    some_property        text COLLATE "C",
    staged_object_type   text COLLATE "C",
    staged_some_property text COLLATE "C",
    sole                 boolean NOT NULL,
    CONSTRAINT resource_copy_pkey PRIMARY KEY (project_key, name, id)
);

CREATE TABLE sandbox_project (
    project_key      text COLLATE "C" PRIMARY KEY,
    client_id        text COLLATE "C" NOT NULL UNIQUE,
    created_at       timestamptz(3) NOT NULL,
    expires_at       timestamptz(3) NOT NULL,
    -- While the project is being removed, no request reaches it any more.
    is_removed       boolean NOT NULL DEFAULT false,
    -- JSON: what PUT .../clock and PUT .../ids were sent, and when; the initial ones return with a reset.
    clock            text NOT NULL,
    ids              text NOT NULL,
    initial_clock    text NOT NULL,
    initial_ids      text NOT NULL,
    -- JSON: the rules, and a number that grows whenever they change.
    rules            text NOT NULL DEFAULT '[]',
    rules_generation bigint NOT NULL DEFAULT 0,
    -- A token is accepted if it was issued in this epoch.
    token_epoch      bigint NOT NULL DEFAULT 0,
    -- JSON: the named snapshots, with the number of ids that had been made.
    snapshots        text NOT NULL DEFAULT '{}'
);
CREATE INDEX sandbox_project_expires_at ON sandbox_project (expires_at);

-- How many ids a seed has made. Durable, since an id that is made twice is refused.
CREATE TABLE sandbox_ids (
    project_key text COLLATE "C" PRIMARY KEY,
    made        bigint NOT NULL
) WITH (fillfactor = 50);

-- How often each rule has matched and acted, and the times of the requests that a limit has let through last.
CREATE UNLOGGED TABLE sandbox_rule_count (
    project_key text COLLATE "C" NOT NULL,
    generation  bigint NOT NULL,
    rule        int NOT NULL,
    matched     bigint NOT NULL,
    acted       bigint NOT NULL,
    passed      double precision[] NOT NULL DEFAULT '{}',
    -- Of the last request: whether the rule acted on it, and when the limit lets the next one through.
    acts        boolean NOT NULL DEFAULT false,
    free_at     double precision,
    PRIMARY KEY (project_key, generation, rule)
) WITH (fillfactor = 50);

-- How many requests a project has had.
CREATE UNLOGGED TABLE sandbox_request_count (
    project_key text COLLATE "C" PRIMARY KEY,
    requests    bigint NOT NULL
) WITH (fillfactor = 50);

-- The last requests of each project, in the order of their answers. Workers write them some moments later, so the number
-- of a request is not stored: it follows from the number of all requests and from how many are newer. entry is a JSON
-- text; status, operation_id and method are what lists are narrowed by.
CREATE UNLOGGED TABLE sandbox_request (
    project_key  text COLLATE "C" NOT NULL,
    -- In microseconds since 1970; place tells apart what ended at the same time.
    ended_us     bigint NOT NULL,
    place        bigint NOT NULL,
    status       int,
    operation_id text COLLATE "C",
    method       text COLLATE "C" NOT NULL,
    entry        text NOT NULL,
    PRIMARY KEY (project_key, ended_us, place)
-- Compressing an entry takes longer than writing it, and most are deleted soon.
) WITH (toast_tuple_target = 8160);
ALTER TABLE sandbox_request ALTER COLUMN entry SET STORAGE EXTERNAL;
