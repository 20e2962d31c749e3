INSERT INTO word (project_key, word)
SELECT %(project_key)s, w.word
FROM (
    SELECT w.word
    FROM resource r, unnest(tsvector_to_array(r.words)) w (word)
    WHERE r.project_key = %(project_key)s
    UNION
    SELECT w.word
    FROM resource r, unnest(tsvector_to_array(r.staged_words)) w (word)
    WHERE r.project_key = %(project_key)s AND r.staged_object_type IS NOT NULL
) w
ORDER BY w.word COLLATE "C"
ON CONFLICT DO NOTHING
