UPDATE resource r
SET
    version = %(version)s,
    object_type = %(object_type)s,
    last_modified_at = greatest(r.created_at, date_trunc('milliseconds', statement_timestamp()))
WHERE r.project_key = %(project_key)s AND r.id = %(id)s AND r.version = %(read_version)s
RETURNING r.last_modified_at
