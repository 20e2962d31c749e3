-- The schema. project_key, the tenant, stands in every key and index of what belongs to a project, so that no statement
-- looks at another project's rows and the tables can be distributed by it.
--
-- Functions of generated columns and indexes name only objects of PostgreSQL itself: a restored dump computes these
-- columns and indexes anew, and has no search_path then. They are PL/pgSQL because that plans them once a session: SQL
-- functions are planned by each statement, which made up half of the price of a write. Those of words have a COST near the
-- truth: with the default of 100 the planner would rather compute 29 stems of each word of a project than use the index.

SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '1min';

-- Both are trusted: the owner of a database may create them.
CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE EXTENSION IF NOT EXISTS fuzzystrmatch;


-- Words

-- The words of a projection as they are written, in lower case, and not their stems: one column then serves every
-- language. A word is a run of letters, marks and digits: the other printable ASCII characters become blanks. PostgreSQL's
-- parser would take "cat/dog" for the name of a file and the end of "3-5" for a negative number, and the time for
-- "a_a_a_..." would grow with the square of its length.
--
-- Letters that people take for one are one: a letter with a mark is the same in one character and in two (NFC), a final sigma
-- is a sigma, and a dotless i is an i. A search reads its texts with this function, too.
--
-- Short texts are taken from the text of the JSON array: without a backslash it holds the texts as they are. A query that
-- takes the array apart takes half as long again.
CREATE FUNCTION words_of(object_type text, some_property text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000 AS $$
DECLARE
    texts text := (object_type::jsonb -> 'arrayOfStringExample')::text;
BEGIN
    IF octet_length(texts) > 1000 OR strpos(texts, '\') > 0 THEN
        texts := (
            SELECT string_agg(s.text, ' ' ORDER BY s.place)
            FROM jsonb_array_elements_text(texts::jsonb) WITH ORDINALITY s (text, place));
    END IF;
    RETURN to_tsvector('pg_catalog.simple', translate(
        normalize(concat(texts, ' ', some_property), NFC),
        '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~ςı', repeat(' ', 32) || 'σi'));
END
$$;

-- The languages that this server has stemmers for, and the stems of a word in all of them, but for the word itself. Two
-- lists that have to agree, so both are made here: a server that is upgraded keeps the ones it has.
DO $$
BEGIN
    EXECUTE format(
        'CREATE FUNCTION stemmed_languages() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN %L::text[]',
        (SELECT array_agg(cfgname ORDER BY cfgname) FROM pg_ts_config
         WHERE cfgnamespace = 'pg_catalog'::regnamespace AND cfgname <> 'simple'));
END
$$;

DO $$
BEGIN
    EXECUTE (
        SELECT format(
            'CREATE FUNCTION word_stems(word text) RETURNS text[]
             LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 5000 AS %L',
            format('BEGIN
                RETURN array_remove(array_remove(ARRAY[%s], word), NULL);
            END',
                string_agg(format('(ts_lexize(%L::regdictionary, word))[1]', 'pg_catalog.' || dictname), ', '
                    ORDER BY dictname)))
        FROM pg_ts_dict WHERE dictnamespace = 'pg_catalog'::regnamespace AND dictname LIKE '%\_stem');
END
$$;

-- What the beginning of a word keeps, whichever letters are edited. A word of six letters or more shares four of its first
-- six, in order, with each word within two edits. A word of four or five letters shares three of its first four with each
-- word within one edit, and a word of three letters two of its three. Words of one letter have no keys, as they allow no
-- edit, and words of more than 255 letters have none, as no distance is computed for them.
CREATE FUNCTION word_keys(word text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
DECLARE
    letters CONSTANT integer := length(word);
    a CONSTANT text := substr(word, 1, 1);
    b CONSTANT text := substr(word, 2, 1);
    c CONSTANT text := substr(word, 3, 1);
    d CONSTANT text := substr(word, 4, 1);
    e CONSTANT text := substr(word, 5, 1);
    f CONSTANT text := substr(word, 6, 1);
    keys text[];
BEGIN
    IF letters BETWEEN 6 AND 255 THEN
        keys := ARRAY[
            a || b || c || d, a || b || c || e, a || b || c || f, a || b || d || e, a || b || d || f,
            a || b || e || f, a || c || d || e, a || c || d || f, a || c || e || f, a || d || e || f,
            b || c || d || e, b || c || d || f, b || c || e || f, b || d || e || f, c || d || e || f];
    ELSIF letters = 5 THEN
        keys := ARRAY[
            a || b || c || d, a || b || c || e, a || b || d || e, a || c || d || e, b || c || d || e,
            a || b || c, a || b || d, a || c || d, b || c || d];
    ELSIF letters = 4 THEN
        keys := ARRAY[
            a || b || c || d, a || b || c, a || b || d, a || c || d, b || c || d, a || b, a || c, b || c];
    ELSIF letters = 3 THEN
        keys := ARRAY[a || b || c, a || b, a || c, b || c];
    ELSIF letters = 2 THEN
        keys := ARRAY[a || b];
    END IF;
    RETURN keys;
END
$$;


-- Resources

-- An ObjectType whose arrays of scalars have each value once, in order. No condition asks how often or where a
-- value stands in an array. A facet counts a resource once for each of its values: to find them with each request
-- would take 1.3 to 1.7 times as long, and a write takes some 30 µs for it. The result becomes jsonb from text, since
-- jsonb_object_agg takes longer. Numbers are sorted as numeric, since sorting them as jsonb takes three times as long.
CREATE FUNCTION distinct_items(object_type jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN (
        SELECT ('{' || coalesce(string_agg(to_json(f.name) || ':' || CASE jsonb_typeof(f.items -> 0)
            WHEN 'number' THEN to_json(ARRAY(
                SELECT DISTINCT i.item::numeric FROM jsonb_array_elements(f.items) i (item) ORDER BY 1))::text
            WHEN 'string' THEN to_json(ARRAY(
                SELECT DISTINCT i.item COLLATE "C" FROM jsonb_array_elements_text(f.items) i (item) ORDER BY 1))::text
            WHEN 'object' THEN f.items::text
            ELSE to_json(ARRAY(
                SELECT DISTINCT i.item FROM jsonb_array_elements(f.items) i (item) ORDER BY 1))::text
            END, ','), '') || '}')::jsonb
        FROM jsonb_each(object_type) f (name, items));
END
$$;

-- object_type and staged_object_type hold the exact JSON text: numeric, and so jsonb, forgets the sign of -0.0 and
-- writes 1e-300 with three hundred zeros, while a text goes out as it came in, without being built again for each
-- read. What conditions and facets look at is the jsonb made from it.
--
-- staged_* are NULL while the staged projection is the current one, which is what most resources are: then neither
-- the row nor its indexes carry anything twice, and "has staged changes" is "staged_object_type IS NOT NULL".
CREATE TABLE resource (
    project_key                text COLLATE "C" NOT NULL,
    id                         uuid NOT NULL,
    version                    bigint NOT NULL CHECK (version >= 1),
    key                        text COLLATE "C",
    created_at                 timestamptz(3) NOT NULL,
    last_modified_at           timestamptz(3) NOT NULL,
    created_by                 text COLLATE "C" NOT NULL,
    last_modified_by           text COLLATE "C" NOT NULL,
    object_type                text COLLATE "C" NOT NULL,
    some_property              text COLLATE "C",
    staged_object_type         text COLLATE "C",
    staged_some_property       text COLLATE "C",
    -- PUT without id and key creates a resource if its client has none without a key. Of those that race to do so only
    -- one may, so each marks what it creates, and an index refuses a second mark. Nothing else reads it.
    created_as_only            boolean NOT NULL DEFAULT false,
    object                     jsonb NOT NULL GENERATED ALWAYS AS (distinct_items(object_type::jsonb)) STORED,
    staged_object              jsonb GENERATED ALWAYS AS (distinct_items(staged_object_type::jsonb)) STORED,
    words                      tsvector NOT NULL GENERATED ALWAYS AS (words_of(object_type, some_property)) STORED,
    staged_words               tsvector GENERATED ALWAYS AS (
        CASE WHEN staged_object_type IS NOT NULL THEN words_of(staged_object_type, staged_some_property) END) STORED,
    CONSTRAINT resource_pkey PRIMARY KEY (project_key, id),
    CONSTRAINT resource_key_unique UNIQUE (project_key, key),
    CONSTRAINT resource_staged_some_property CHECK (staged_object_type IS NOT NULL OR staged_some_property IS NULL)
);

CREATE UNIQUE INDEX resource_created_as_only ON resource (project_key, created_by)
    WHERE created_as_only AND key IS NULL;

-- With statistics of project_key the planner expects a single row in a project that is younger than the statistics, and
-- reads all of the project by any index. Without statistics it expects many rows in every project.
ALTER TABLE resource ALTER COLUMN project_key SET STATISTICS 0;

-- Containment and words: btree_gin lets the tenant stand beside the document in one index. What is written waits in a list
-- of pending entries until it is sorted into the index, and every search reads all of the list, so it is short.
CREATE INDEX resource_object ON resource USING gin (project_key, object jsonb_path_ops)
    WITH (gin_pending_list_limit = 256);
CREATE INDEX resource_staged_object ON resource USING gin (project_key, staged_object jsonb_path_ops)
    WITH (gin_pending_list_limit = 256) WHERE staged_object_type IS NOT NULL;
CREATE INDEX resource_words ON resource USING gin (project_key, words) WITH (gin_pending_list_limit = 256);
CREATE INDEX resource_staged_words ON resource USING gin (project_key, staged_words)
    WITH (gin_pending_list_limit = 256) WHERE staged_object_type IS NOT NULL;

-- An order is one index, read forwards or backwards: absent values are above all others, and ties are in the order of ids in
-- the same direction. Ids are time-ordered.
CREATE INDEX resource_created_at ON resource (project_key, created_at, id);
CREATE INDEX resource_last_modified_at ON resource (project_key, last_modified_at, id);
CREATE INDEX resource_key ON resource (project_key, key, id);
-- PUT and PATCH without id and key mean the youngest of these.
CREATE INDEX resource_own ON resource (project_key, created_by, id) WHERE key IS NULL;
-- An entry of a B-tree has at most 2704 bytes, and someProperty has no limit.
CREATE INDEX resource_some_property_beginning ON resource (project_key, "left"(some_property, 400), id);


-- The dictionary of each project's words

-- A search in a language looks up here which words of the project have the stems that are asked for, and then searches for
-- these words. A fuzzy search also looks up words that are written alike. A word that no resource has any more finds nothing;
-- the command "db remove-words" removes it.
CREATE TABLE word (
    project_key text COLLATE "C" NOT NULL,
    word        text COLLATE "C" NOT NULL,
    CONSTRAINT word_pkey PRIMARY KEY (project_key, word)
);
ALTER TABLE word ALTER COLUMN project_key SET STATISTICS 0;
CREATE INDEX word_stems_of ON word USING gin (project_key, word_stems(word)) WITH (gin_pending_list_limit = 128);
CREATE INDEX word_keys_of ON word USING gin (project_key, word_keys(word)) WITH (gin_pending_list_limit = 128);

-- In the transaction of each write, two triggers add the words that the dictionary lacks, so a search finds each resource
-- that it sees. ORDER BY makes writes that add the same words wait for one another instead of deadlocking. For a known
-- word, ON CONFLICT only reads the primary key.
CREATE FUNCTION add_inserted_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO word (project_key, word)
    SELECT DISTINCT c.project_key, w.word COLLATE "C"
    FROM changed c, unnest(tsvector_to_array(c.words) || tsvector_to_array(c.staged_words)) w (word)
    ORDER BY 1, 2
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

-- An update adds only words that the current projection did not have.
CREATE FUNCTION add_updated_words() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before CONSTANT text[] := tsvector_to_array(OLD.words);
    added CONSTANT text[] := tsvector_to_array(ts_delete(NEW.words, before))
        || tsvector_to_array(ts_delete(NEW.staged_words, before));
BEGIN
    INSERT INTO word (project_key, word)
    SELECT NEW.project_key, w.word
    FROM unnest(added) w (word)
    ORDER BY w.word COLLATE "C"
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE TRIGGER words_inserted AFTER INSERT ON resource
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION add_inserted_words();
CREATE TRIGGER words_updated AFTER UPDATE ON resource FOR EACH ROW
    WHEN (NEW.words IS DISTINCT FROM OLD.words OR NEW.staged_words IS DISTINCT FROM OLD.staged_words)
    EXECUTE FUNCTION add_updated_words();


-- How many resources each project has

-- Kept by triggers, so that no page has to count them. The number of a project is the sum of its rows here. A connection
-- adds to the row of its own slot, so that two writers seldom wait for one another. Row and number change in one
-- transaction, so every snapshot sees numbers that fit its resources. A project without a row here is counted by reading
-- it: an empty one, or any on a distributed database, which has no triggers.
--
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

-- The functions of triggers find their tables whatever the session's search_path: a dump of pg_dump sets it to nothing.
-- Citus refuses FROM CURRENT.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION add_inserted_words() SET search_path TO %I', current_schema());
    EXECUTE format('ALTER FUNCTION add_updated_words() SET search_path TO %I', current_schema());
    EXECUTE format('ALTER FUNCTION count_resources() SET search_path TO %I', current_schema());
    EXECUTE format('ALTER FUNCTION forget_resource_counts() SET search_path TO %I', current_schema());
END
$$;


-- Identity

-- Clients and tokens belong to the service, not to a project; their scopes name the projects. On a distributed
-- PostgreSQL these are reference tables.
CREATE TABLE api_client (
    id          text COLLATE "C" PRIMARY KEY,
    name        text NOT NULL,
    -- SHA-256 of a random 256-bit secret: with that much entropy a slow hash adds nothing but cost.
    secret_hash bytea NOT NULL,
    scopes      text[] NOT NULL,
    created_at  timestamptz(3) NOT NULL,
    revoked_at  timestamptz(3)
);

CREATE TABLE access_token (
    -- SHA-256 of the token, which has 256 random bits.
    digest     bytea PRIMARY KEY,
    -- No foreign key: each token would lock the row of its client, and a token without a client is refused.
    client_id  text COLLATE "C" NOT NULL,
    scopes     text[] NOT NULL,
    issued_at  timestamptz(0) NOT NULL,
    expires_at timestamptz(0) NOT NULL,
    revoked_at timestamptz(3),
    -- The row is removed after this time, which is no earlier than a day after the expiry.
    kept_until timestamptz(0) NOT NULL
);
CREATE INDEX access_token_kept_until ON access_token (kept_until);
