DELETE FROM resource r
WHERE r.project_key = %(project_key)s AND r.id = %(id)s AND r.version = %(read_version)s
