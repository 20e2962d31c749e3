INSERT INTO resource AS r (
    project_key,
    id,
    created_at,
    last_modified_at,
    created_by,
    version,
    last_modified_by,
    key,
    object_type,
    staged_object_type
)
VALUES (
    %(project_key)s,
    %(id)s,
    date_trunc('milliseconds', statement_timestamp()),
    date_trunc('milliseconds', statement_timestamp()),
    %(last_modified_by)s,
    %(version)s,
    %(last_modified_by)s,
    %(key)s,
    %(object_type)s,
    %(staged_object_type)s
)
RETURNING r.created_at
