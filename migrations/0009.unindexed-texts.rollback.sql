-- The texts that are left may have words that the dictionary lacks.
INSERT INTO word (project_key, word)
SELECT DISTINCT t.project_key, w.word FROM unindexed_text t, unnest(words_of_text(t.text)) w (word)
ON CONFLICT DO NOTHING;

CREATE OR REPLACE FUNCTION word_keys(word text) RETURNS text[]
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

DO $$
BEGIN
    EXECUTE (
        SELECT format(
            'CREATE OR REPLACE FUNCTION word_stems(word text) RETURNS text[]
             LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS %L',
            format('BEGIN
                RETURN (SELECT array_agg(DISTINCT s.stem) FROM unnest(%s) s (stem) WHERE s.stem <> word);
            END',
                string_agg(format('ts_lexize(%L::regdictionary, word)', 'pg_catalog.' || dictname), ' || '
                    ORDER BY dictname)))
        FROM pg_ts_dict WHERE dictnamespace = 'pg_catalog'::regnamespace AND dictname LIKE '%\_stem');
END
$$;

DROP FUNCTION words_of_text(text);
DROP TABLE unindexed_text;
