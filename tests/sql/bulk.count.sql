SELECT count(*)
FROM resource r
WHERE r.project_key = %(project_key)s
