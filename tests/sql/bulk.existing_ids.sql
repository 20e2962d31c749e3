SELECT r.id
FROM resource r
WHERE r.project_key = %(project_key)s AND r.id = ANY (%(ids)s)
