WITH text AS MATERIALIZED (
    SELECT
        t.number,
        words_of('{}', t.text) AS words,
        CASE
            WHEN t.configuration = ANY (stemmed_languages()) THEN 'pg_catalog.' || t.configuration
            ELSE 'pg_catalog.simple'
        END::regconfig AS configuration
    FROM unnest(
        (SELECT %(configurations)s::text[]), (SELECT %(texts)s::text[])
    ) WITH ORDINALITY t (configuration, text, number)
),
-- The words of the texts with their stems; stop words have none.
written AS MATERIALIZED (
    SELECT
        t.number,
        t.configuration,
        w.lexeme AS word,
        cardinality(w.positions) AS times,
        tsvector_to_array(to_tsvector(t.configuration, w.lexeme)) AS stems
    FROM text t, unnest(t.words) w
),
asked AS MATERIALIZED (
    SELECT DISTINCT
        w.configuration,
        w.stems,
        w.word,
        least(
            (SELECT %(edits)s::int), CASE WHEN length(w.word) <= 2 THEN 0 WHEN length(w.word) <= 5 THEN 1 ELSE 2 END
        ) AS edits,
        CASE
            WHEN (SELECT %(edits)s::int) > 0
            THEN ARRAY(
                SELECT overlay(w.word PLACING reverse(substr(w.word, p.place, 2)) FROM p.place FOR 2)
                FROM generate_series(1, CASE WHEN length(w.word) <= 255 THEN length(w.word) - 1 END) p (place)
            )
        END AS swapped
    FROM written w
    WHERE w.stems <> '{}' AND (SELECT sum(w.times) FROM written w) <= %(words_at_most)s
),
-- For each word, the words of the project that match it: by stem, and by distance.
expanded AS (
    SELECT '''' || a.word || '''' AS exact, m.stemmed, m.matching
    FROM asked a
        CROSS JOIN LATERAL (
            SELECT
                string_agg(DISTINCT '''' || w.word || '''', ' | ') FILTER (WHERE w.has_stem) AS stemmed,
                string_agg(DISTINCT '''' || w.word || '''', ' | ') AS matching
            FROM (
                SELECT w.word, true AS has_stem
                FROM word w
                WHERE w.project_key = %(project_key)s
                    AND w.word = ANY (a.stems)
                    AND tsvector_to_array(to_tsvector(a.configuration, w.word)) && a.stems
                UNION ALL
                SELECT w.word, true
                FROM word w
                WHERE w.project_key = %(project_key)s
                    AND word_stems(w.word) && a.stems
                    AND tsvector_to_array(to_tsvector(a.configuration, w.word)) && a.stems
                UNION ALL
                SELECT w.word, false
                FROM word w
                WHERE w.project_key = %(project_key)s
                    AND a.edits > 0
                    AND word_keys(w.word) && ARRAY(
                        SELECT k.key
                        FROM unnest(word_keys(a.word)) k (key)
                        WHERE length(k.key) = least(4, length(a.word) - CASE WHEN length(a.word) <= 4 THEN 1 ELSE 0 END)
                    )
                    AND CASE
                        WHEN greatest(length(w.word), length(a.word)) <= 255
                            AND length(w.word) BETWEEN length(a.word) - a.edits AND length(a.word) + a.edits
                            THEN levenshtein_less_equal(w.word, a.word, a.edits) <= a.edits
                                OR (
                                    abs(length(w.word) - length(a.word)) < a.edits
                                    AND length(translate(w.word, a.word, '')) < a.edits
                                    AND length(translate(a.word, w.word, '')) < a.edits
                                    AND (
                                        EXISTS (
                                            SELECT
                                            FROM unnest(a.swapped) s (word)
                                            WHERE levenshtein_less_equal(s.word, w.word, a.edits - 1) < a.edits
                                        )
                                        OR a.edits = 2
                                            AND EXISTS (
                                                SELECT
                                                FROM generate_series(1, length(w.word) - 1) p (place),
                                                LATERAL (
                                                    SELECT overlay(
                                                        w.word PLACING reverse(substr(w.word, p.place, 2))
                                                        FROM p.place
                                                        FOR 2
                                                    ) AS word
                                                ) s
                                                WHERE s.word = ANY (a.swapped)
                                                    OR levenshtein_less_equal(s.word, a.word, 1) < 2
                                            )
                                    )
                                )
                        ELSE false
                    END
            ) w
        ) m
)
SELECT
    (
        SELECT array_agg((SELECT coalesce(sum(w.times), 0) FROM written w WHERE w.number = t.number) ORDER BY t.number)
        FROM text t
    ),
    NOT EXISTS (
        SELECT FROM text t WHERE NOT EXISTS (SELECT FROM written w WHERE w.number = t.number AND w.stems <> '{}')
    )
        AND (SELECT coalesce(bool_and(e.matching IS NOT NULL), false) FROM expanded e),
    (SELECT array_agg(ARRAY[e.exact, e.stemmed, e.matching]) FROM expanded e)
