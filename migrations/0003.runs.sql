-- Runs: what the sandbox projects of one run of tests have exercised, counted together and kept after they are gone.
-- depends: 0002.sandbox

SET LOCAL lock_timeout = '2s';
SET LOCAL statement_timeout = '30s';

CREATE TABLE sandbox_run (
    run        text COLLATE "C" PRIMARY KEY,
    -- Tells a run from a later one with the same name.
    id         uuid NOT NULL UNIQUE,
    created_at timestamptz(3) NOT NULL,
    -- From then on it is removed, once none of its projects is left.
    kept_until timestamptz(3) NOT NULL
);

-- What the requests of a run were or showed, each with how often. examples are JSON texts, the first of each kind.
CREATE TABLE sandbox_run_count (
    run_id   uuid NOT NULL,
    kind     text COLLATE "C" NOT NULL,
    name     text COLLATE "C" NOT NULL,
    n        bigint NOT NULL,
    examples text[] NOT NULL,
    PRIMARY KEY (run_id, kind, name)
) WITH (fillfactor = 50);

-- The id of the run; NULL: of none. Up to the entry that judged_us and judged_place name, the run has what the order of
-- the project's requests shows.
ALTER TABLE sandbox_project ADD COLUMN run_id uuid;
ALTER TABLE sandbox_project ADD COLUMN judged_us bigint NOT NULL DEFAULT 0;
ALTER TABLE sandbox_project ADD COLUMN judged_place bigint NOT NULL DEFAULT 0;
