SET LOCAL lock_timeout = '2s';
SET LOCAL statement_timeout = '30s';

ALTER TABLE sandbox_project DROP COLUMN run;
ALTER TABLE sandbox_project ADD COLUMN judged_place bigint NOT NULL DEFAULT 0;
ALTER TABLE sandbox_project ADD COLUMN judged_us bigint NOT NULL DEFAULT 0;
ALTER TABLE sandbox_project ADD COLUMN run_id uuid;
ALTER TABLE sandbox_project ADD COLUMN rules_generation bigint NOT NULL DEFAULT 0;
ALTER TABLE sandbox_project ADD COLUMN rules text NOT NULL DEFAULT '[]';

CREATE UNLOGGED TABLE sandbox_rule_count (
    project_key text COLLATE "C" NOT NULL,
    generation  bigint NOT NULL,
    rule        int NOT NULL,
    matched     bigint NOT NULL,
    acted       bigint NOT NULL,
    passed      double precision[] NOT NULL DEFAULT '{}',
    acts        boolean NOT NULL DEFAULT false,
    free_at     double precision,
    PRIMARY KEY (project_key, generation, rule)
) WITH (fillfactor = 50);

CREATE UNLOGGED TABLE sandbox_request_count (
    project_key text COLLATE "C" PRIMARY KEY,
    requests    bigint NOT NULL
) WITH (fillfactor = 50);

CREATE UNLOGGED TABLE sandbox_request (
    project_key  text COLLATE "C" NOT NULL,
    ended_us     bigint NOT NULL,
    place        bigint NOT NULL,
    status       int,
    operation_id text COLLATE "C",
    method       text COLLATE "C" NOT NULL,
    entry        text NOT NULL,
    PRIMARY KEY (project_key, ended_us, place)
) WITH (toast_tuple_target = 8160);

CREATE UNLOGGED TABLE sandbox_entry (
    project_key  text COLLATE "C" NOT NULL,
    arrived_us   bigint NOT NULL,
    place        bigint NOT NULL,
    ended_us     bigint,
    status       int,
    operation_id text COLLATE "C",
    method       text COLLATE "C" NOT NULL,
    entry        text NOT NULL,
    PRIMARY KEY (project_key, arrived_us, place)
) WITH (toast_tuple_target = 8160);

CREATE TABLE sandbox_run (
    run        text COLLATE "C" PRIMARY KEY,
    id         uuid NOT NULL UNIQUE,
    created_at timestamptz(3) NOT NULL,
    kept_until timestamptz(3) NOT NULL
);

CREATE TABLE sandbox_run_count (
    run_id   uuid NOT NULL,
    kind     text COLLATE "C" NOT NULL,
    name     text COLLATE "C" NOT NULL,
    n        bigint NOT NULL,
    examples text[] NOT NULL,
    PRIMARY KEY (run_id, kind, name)
) WITH (fillfactor = 50);

ALTER TABLE sandbox_request ALTER COLUMN entry SET STORAGE EXTERNAL;
ALTER TABLE sandbox_entry ALTER COLUMN entry SET STORAGE EXTERNAL;
