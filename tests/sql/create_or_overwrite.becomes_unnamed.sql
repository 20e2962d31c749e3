UPDATE resource r
SET unnamed = %(unnamed)s
WHERE r.project_key = %(project_key)s AND r.id = %(id)s AND r.version = %(read_version)s
RETURNING r.last_modified_at
