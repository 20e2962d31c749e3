-- Texts whose words the dictionary may lack. A write adds a row here and leaves the dictionary's indexes alone, which
-- made up two fifths of the price of a write with one new word. A search reads these texts beside the dictionary, so it
-- finds the words from the moment that the write is committed. They are moved to the dictionary afterwards, many at
-- once.
--
-- A service of an earlier version adds words to the dictionary itself, which is as good. Its searches do not read this
-- table: while one is still running, they miss a new word until it is moved, a second later as a rule.
-- depends: 0008.resources-counted-so-far

SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '1min';

CREATE TABLE unindexed_text (
    project_key text COLLATE "C" NOT NULL,
    id          uuid NOT NULL DEFAULT gen_random_uuid(),
    text        text COLLATE "C" NOT NULL,
    CONSTRAINT unindexed_text_pkey PRIMARY KEY (project_key, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

ALTER TABLE unindexed_text ALTER COLUMN project_key SET STATISTICS 0;

-- The words of such a text, as words_of finds them in the texts of a resource.
CREATE FUNCTION words_of_text(text text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN tsvector_to_array(to_tsvector('pg_catalog.simple', ' ' || translate(text, '<', ' ')));

-- The functions of the dictionary's indexes in two thirds and in an eighth of the time: without a concatenation for each
-- stemmer, and without a query for the letters. The stems are the same as before. So are the keys, some of them twice,
-- which makes no difference to an index.
DO $$
BEGIN
    EXECUTE (
        SELECT format(
            'CREATE OR REPLACE FUNCTION word_stems(word text) RETURNS text[]
             LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS %L',
            format('DECLARE
                stems text[] := array_remove(array_remove(ARRAY[%s], word), NULL);
            BEGIN
                RETURN (SELECT array_agg(DISTINCT s.stem) FROM unnest(stems) s (stem));
            END',
                string_agg(format('(ts_lexize(%L::regdictionary, word))[1]', 'pg_catalog.' || dictname), ', '
                    ORDER BY dictname)))
        FROM pg_ts_dict WHERE dictnamespace = 'pg_catalog'::regnamespace AND dictname LIKE '%\_stem');
END
$$;

CREATE OR REPLACE FUNCTION word_keys(word text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
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
