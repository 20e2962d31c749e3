INSERT INTO word (project_key, word)
SELECT %(project_key)s, w.word
FROM (SELECT DISTINCT w.word FROM unnest(%(texts)s::text[]) t (text), unnest(words_of_text(t.text)) w (word)) w
ORDER BY w.word COLLATE "C"
ON CONFLICT DO NOTHING
