UPDATE resource r
SET
    version = %(version)s,
    last_modified_by = %(last_modified_by)s,
    last_modified_at = date_trunc('milliseconds', %(now)s::timestamptz)
WHERE r.project_key = %(project_key)s AND r.id = %(id)s AND r.version = %(read_version)s
RETURNING r.last_modified_at
