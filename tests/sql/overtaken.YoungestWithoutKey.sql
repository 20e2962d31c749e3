SELECT r.id
FROM resource r
WHERE r.project_key = %(project_key)s AND r.key IS NULL
ORDER BY r.key DESC, r.id DESC
LIMIT 1
