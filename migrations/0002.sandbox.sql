-- What throwaway projects need beyond 0001: requests in the order of their arrival, also those that are under way, and how
-- long a project's tokens are good.
-- depends: 0001.schema

SET LOCAL lock_timeout = '2s';
SET LOCAL statement_timeout = '30s';

-- The last requests of each project, in the order of their arrival. Workers write them some moments later, so the number
-- of a request is not stored: it follows from the number of all requests and from how many are newer. entry is a JSON
-- text; status, operation_id and method are what lists are narrowed by. Instances of 0.1.0 write sandbox_request.
CREATE UNLOGGED TABLE sandbox_entry (
    project_key  text COLLATE "C" NOT NULL,
    -- In microseconds since 1970; place tells apart what arrived at the same time.
    arrived_us   bigint NOT NULL,
    place        bigint NOT NULL,
    -- NULL while the request is under way.
    ended_us     bigint,
    status       int,
    operation_id text COLLATE "C",
    method       text COLLATE "C" NOT NULL,
    entry        text NOT NULL,
    PRIMARY KEY (project_key, arrived_us, place)
-- Compressing an entry takes longer than writing it, and most are deleted soon.
) WITH (toast_tuple_target = 8160);
ALTER TABLE sandbox_entry ALTER COLUMN entry SET STORAGE EXTERNAL;

-- In seconds; NULL: as long as those of other clients.
ALTER TABLE sandbox_project ADD COLUMN token_ttl_s int;
