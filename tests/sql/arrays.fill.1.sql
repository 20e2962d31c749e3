SELECT r.id, (r.arrays_version = r.version) IS TRUE
FROM resource r
WHERE r.project_key = %(project_key)s AND r.id > %(after)s
ORDER BY r.id
LIMIT 500
