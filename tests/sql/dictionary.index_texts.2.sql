INSERT INTO word (project_key, word)
SELECT w.project_key, w.word
FROM (
    SELECT DISTINCT u.project_key, w.word
    FROM unindexed_text u, unnest(words_of_text(u.text)) w (word)
    WHERE u.project_key = %(project_key)s AND u.id = ANY (%(ids)s)
) w
ORDER BY w.word COLLATE "C"
ON CONFLICT DO NOTHING
