-- The resource of the interface, one row each. The tenant, project_key, stands in every key and index, so that no
-- statement ever looks at another project's rows and the table can be distributed by it.
--
-- object_type and staged_object_type hold the exact JSON text: numeric, and so jsonb, forgets the sign of -0.0 and
-- writes 1e-300 with three hundred zeros, while a text goes out as it came in, without being built again for each
-- read. What conditions look at is the jsonb made from it.
--
-- staged_* are NULL while the staged projection is the current one, which is what most resources are: then neither
-- the row nor its indexes carry anything twice, and "has staged changes" is "staged_object_type IS NOT NULL".
-- depends:

SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '15min';

-- Trusted since PostgreSQL 13: the owner of a database may create it.
CREATE EXTENSION IF NOT EXISTS btree_gin;

CREATE TABLE resource (
    project_key          text COLLATE "C" NOT NULL,
    id                   uuid NOT NULL,
    version              bigint NOT NULL CHECK (version >= 1),
    key                  text COLLATE "C",
    created_at           timestamptz(3) NOT NULL,
    last_modified_at     timestamptz(3) NOT NULL,
    created_by           text COLLATE "C" NOT NULL,
    last_modified_by     text COLLATE "C" NOT NULL,
    object_type          text COLLATE "C" NOT NULL,
    some_property        text COLLATE "C",
    staged_object_type   text COLLATE "C",
    staged_some_property text COLLATE "C",
    -- Marks the resource that a body without id and key made in an empty project: of racing ones, one wins.
    sole                 boolean NOT NULL DEFAULT false,
    object               jsonb NOT NULL GENERATED ALWAYS AS (object_type::jsonb) STORED,
    staged_object        jsonb GENERATED ALWAYS AS (staged_object_type::jsonb) STORED,
    CONSTRAINT resource_pkey PRIMARY KEY (project_key, id),
    CONSTRAINT resource_key_unique UNIQUE (project_key, key),
    CONSTRAINT resource_staged_some_property CHECK (staged_object_type IS NOT NULL OR staged_some_property IS NULL)
);

CREATE UNIQUE INDEX resource_sole_unique ON resource (project_key) WHERE sole;

-- Sorting: ids are time-ordered and ties are by id, so one index serves both directions of a time.
CREATE INDEX resource_created_at ON resource (project_key, created_at, id);
CREATE INDEX resource_last_modified_at ON resource (project_key, last_modified_at, id);

-- Containment: btree_gin lets the tenant stand beside the document in one index.
CREATE INDEX resource_object ON resource USING gin (project_key, object jsonb_path_ops);
CREATE INDEX resource_staged_object ON resource USING gin (project_key, staged_object jsonb_path_ops)
    WHERE staged_object_type IS NOT NULL;
