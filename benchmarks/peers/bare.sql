-- The database of the peers: the service's table without the columns that only the service needs (staged
-- projections, authors, search words), and with the indexes for the measured requests.
CREATE EXTENSION IF NOT EXISTS btree_gin;

CREATE TABLE resource (
    project_key      text COLLATE "C" NOT NULL,
    id               uuid NOT NULL,
    version          bigint NOT NULL DEFAULT 1,
    key              text COLLATE "C",
    created_at       timestamptz(3) NOT NULL DEFAULT now(),
    last_modified_at timestamptz(3) NOT NULL DEFAULT now(),
    object_type      text COLLATE "C" NOT NULL,
    some_property    text,
    object           jsonb NOT NULL GENERATED ALWAYS AS (object_type::jsonb) STORED,
    PRIMARY KEY (project_key, id),
    UNIQUE (project_key, key)
);

CREATE INDEX ON resource USING gin (project_key, object jsonb_path_ops);

CREATE TABLE token (
    digest     bytea PRIMARY KEY,
    scope      text NOT NULL,
    expires_at timestamptz(3) NOT NULL
);
