INSERT INTO word (project_key, word)
SELECT w.project_key, w.word
FROM (
    SELECT r.project_key, w.word
    FROM resource r, unnest(tsvector_to_array(r.words)) w (word)
    WHERE r.project_key = %(project_key)s
    UNION
    SELECT r.project_key, w.word
    FROM resource r, unnest(tsvector_to_array(r.staged_words)) w (word)
    WHERE r.project_key = %(project_key)s AND r.staged_object_type IS NOT NULL
) w
ORDER BY w.word COLLATE "C"
ON CONFLICT DO NOTHING
