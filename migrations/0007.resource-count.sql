-- How many resources each project has, kept by triggers, so that no page has to count them.
--
-- The number of a project is the sum of its rows in resource_count. A connection adds to the row of its own slot, so that
-- two writers seldom wait for one another. Row and number change in one transaction, so every snapshot sees numbers that
-- fit its resources. The statements of the service need not know of it, and those of an earlier version are counted too.
--
-- A project without a row here is counted by reading it: an empty one, or any on a distributed database, which has no
-- triggers.
--
-- CREATE TRIGGER waits for the transactions that write at the moment, and writes that come later wait for it.
-- depends: 0006.words-of-short-texts
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '1min';

-- Half of each page is free for the next versions of its rows, which then need no new entry in the index.
CREATE TABLE resource_count (
    project_key text COLLATE "C" NOT NULL,
    slot        smallint NOT NULL,
    resources   bigint NOT NULL,
    CONSTRAINT resource_count_pkey PRIMARY KEY (project_key, slot)
) WITH (fillfactor = 50);

ALTER TABLE resource_count ALTER COLUMN project_key SET STATISTICS 0;

-- Adds the rows that a statement has inserted, or subtracts those that it has deleted. A statement of the service writes
-- rows of one project, and the slot is there nearly always: an UPDATE takes two thirds of the time of an upsert.
CREATE FUNCTION count_resources() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    rows bigint;
    first_project text;
    last_project text;
BEGIN
    SELECT count(*), min(c.project_key), max(c.project_key) INTO rows, first_project, last_project FROM changed c;
    IF rows = 0 THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' THEN
        rows := -rows;
    END IF;
    IF first_project = last_project THEN
        UPDATE resource_count k SET resources = k.resources + rows
        WHERE k.project_key = first_project AND k.slot = pg_backend_pid() % 32;
        IF FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    INSERT INTO resource_count AS k (project_key, slot, resources)
    SELECT c.project_key, pg_backend_pid() % 32, sign(rows) * count(*)
    FROM changed c GROUP BY c.project_key ORDER BY c.project_key
    ON CONFLICT (project_key, slot) DO UPDATE SET resources = k.resources + excluded.resources;
    RETURN NULL;
END
$$;

CREATE FUNCTION forget_resource_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM resource_count;
    RETURN NULL;
END
$$;

CREATE TRIGGER count_inserted AFTER INSERT ON resource
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_resources();
CREATE TRIGGER count_deleted AFTER DELETE ON resource
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_resources();
CREATE TRIGGER count_truncated AFTER TRUNCATE ON resource
    FOR EACH STATEMENT EXECUTE FUNCTION forget_resource_counts();
