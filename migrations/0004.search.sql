-- Full-text search and sorting at any size: the words of a resource, a dictionary of each project's words, and an
-- index for every order.
--
-- words holds the words as they are written, in lower case, and not their stems: one column then serves every language.
-- A search in a language first looks up in the dictionary, word, which words of the project have the stems that are
-- asked for, and then searches for these. A fuzzy search looks up words that are written alike and is no other search.
-- Words are added to the dictionary by the transaction that writes them and never removed: one that no resource has any
-- more finds nothing and does no harm. A service of an earlier version does not add any, so none may be running.
--
-- The functions name nothing but what PostgreSQL brings along, since a dump is restored without a search_path, and
-- generated columns and indexes are computed again then. They are PL/pgSQL because that plans them once a session: SQL
-- functions are planned by each statement, which made up half of the price of a write. A distributed PostgreSQL needs
-- them on its workers before it distributes resource and word, side by side, by project_key.
-- depends: 0003.identity-lifecycle

SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '60min';

-- Trusted, as btree_gin is.
CREATE EXTENSION IF NOT EXISTS fuzzystrmatch;

-- The words of a projection. PostgreSQL's parser takes a time that grows with the square of what has no blanks in it
-- ("a_a_a_...") or begins like a tag, and a tsvector holds one megabyte. So < is a blank, what is longer than 1,000
-- bytes between blanks is left out, and of arrayOfStringExample and of someProperty the first 20,000 characters count.
-- Each text begins with a blank, as it makes a difference to the parser. No word reaches over a blank then, and the
-- words of a text are those of its pieces, whatever else a resource holds.
CREATE FUNCTION words_of(object_type text, some_property text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    text text;
    words tsvector := '';
BEGIN
    FOREACH text IN ARRAY ARRAY[
        (SELECT string_agg(' ' || s.text, '' ORDER BY s.place)
         FROM jsonb_array_elements_text(object_type::jsonb -> 'arrayOfStringExample') WITH ORDINALITY s (text, place)),
        ' ' || some_property]
    LOOP
        IF octet_length(text) > 1000 THEN
            text := (
                SELECT string_agg(' ' || p.piece, '' ORDER BY p.place)
                FROM string_to_table(translate("left"(text, 20000), E'<\t\n\r', '    '), ' ')
                    WITH ORDINALITY p (piece, place)
                WHERE octet_length(p.piece) BETWEEN 1 AND 1000);
        END IF;
        words := words || coalesce(to_tsvector('pg_catalog.simple', translate(text, '<', ' ')), '');
    END LOOP;
    RETURN words;
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
    EXECUTE (
        SELECT format(
            'CREATE FUNCTION word_stems(word text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS
             %L',
            format('BEGIN
                RETURN (SELECT array_agg(DISTINCT s.stem) FROM unnest(%s) s (stem) WHERE s.stem <> word);
            END',
                string_agg(format('ts_lexize(%L::regdictionary, word)', 'pg_catalog.' || dictname), ' || '
                    ORDER BY dictname)))
        FROM pg_ts_dict WHERE dictnamespace = 'pg_catalog'::regnamespace AND dictname LIKE '%\_stem');
END
$$;

-- What the beginning of a word keeps, whichever letters are edited: words within two edits of one another that have at
-- least four letters share four of their first six, in order; within one edit, words of three to five letters share
-- three of their first four, and words of two to four letters two of their first three. 0 is no letter. Longer words
-- than 255 letters have none, since no distance is computed for them.
CREATE FUNCTION word_keys(word text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN (
        SELECT array_agg(DISTINCT
            substr(word, k.a, 1) || substr(word, k.b, 1) || substr(word, k.c, 1) || substr(word, k.d, 1))
        FROM (VALUES
            (1, 2, 3, 4, 4, 255), (1, 2, 3, 5, 5, 255), (1, 2, 3, 6, 6, 255), (1, 2, 4, 5, 5, 255),
            (1, 2, 4, 6, 6, 255), (1, 2, 5, 6, 6, 255), (1, 3, 4, 5, 5, 255), (1, 3, 4, 6, 6, 255),
            (1, 3, 5, 6, 6, 255), (1, 4, 5, 6, 6, 255), (2, 3, 4, 5, 5, 255), (2, 3, 4, 6, 6, 255),
            (2, 3, 5, 6, 6, 255), (2, 4, 5, 6, 6, 255), (3, 4, 5, 6, 6, 255),
            (1, 2, 3, 0, 3, 5), (1, 2, 4, 0, 4, 5), (1, 3, 4, 0, 4, 5), (2, 3, 4, 0, 4, 5),
            (1, 2, 0, 0, 2, 4), (1, 3, 0, 0, 3, 4), (2, 3, 0, 0, 3, 4)
        ) k (a, b, c, d, shortest, longest)
        WHERE length(word) BETWEEN k.shortest AND k.longest
    );
END
$$;

CREATE TABLE word (
    project_key text COLLATE "C" NOT NULL,
    word        text COLLATE "C" NOT NULL,
    CONSTRAINT word_pkey PRIMARY KEY (project_key, word)
);

-- Every index begins with project_key. With statistics of it the planner takes a project that is younger than they are
-- for one of a single row, and reads all of it by any of the indexes. Without, it takes every project for one of many.
-- The column's type is stated once more since that drops the statistics that there are.
ALTER TABLE word ALTER COLUMN project_key SET STATISTICS 0;
ALTER TABLE resource
    ALTER COLUMN project_key TYPE text COLLATE "C",
    ALTER COLUMN project_key SET STATISTICS 0,
    ADD COLUMN words tsvector NOT NULL GENERATED ALWAYS AS (words_of(object_type, some_property)) STORED,
    ADD COLUMN staged_words tsvector GENERATED ALWAYS AS (
        CASE WHEN staged_object_type IS NOT NULL THEN words_of(staged_object_type, staged_some_property) END) STORED;

INSERT INTO word (project_key, word)
SELECT r.project_key, w.word FROM resource r, unnest(tsvector_to_array(r.words)) w (word)
UNION
SELECT r.project_key, w.word FROM resource r, unnest(tsvector_to_array(r.staged_words)) w (word);

-- New words are few, and a search for one word would have to read through a long list of those that are pending.
CREATE INDEX word_stems_of ON word USING gin (project_key, word_stems(word)) WITH (gin_pending_list_limit = 128);
CREATE INDEX word_keys_of ON word USING gin (project_key, word_keys(word)) WITH (gin_pending_list_limit = 128);

CREATE INDEX resource_words ON resource USING gin (project_key, words);
CREATE INDEX resource_staged_words ON resource USING gin (project_key, staged_words)
    WHERE staged_object_type IS NOT NULL;

-- Sorting, ties always by id ascending. Many resources have the same version, so each direction has an index. Absent
-- values are last either way: a list first reads those that are there, then from the index of those that are not.
CREATE INDEX resource_version ON resource (project_key, version, id);
CREATE INDEX resource_version_descending ON resource (project_key, version DESC, id);
CREATE INDEX resource_without_key ON resource (project_key, id) WHERE key IS NULL;
CREATE INDEX resource_without_some_property ON resource (project_key, id) WHERE some_property IS NULL;
-- An entry of a B-tree holds 2704 bytes at most and someProperty has no limit: of long ones it holds the beginning.
CREATE INDEX resource_some_property ON resource (project_key, some_property, id)
    WHERE octet_length(some_property) <= 2000;
CREATE INDEX resource_some_property_descending ON resource (project_key, some_property DESC, id)
    WHERE octet_length(some_property) <= 2000;
CREATE INDEX resource_some_property_long ON resource (project_key, "left"(some_property, 400))
    WHERE octet_length(some_property) > 2000;
