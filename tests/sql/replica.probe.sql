SELECT
FROM resource
WHERE project_key = ''
LIMIT 0
