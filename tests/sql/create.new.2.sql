INSERT INTO resource AS r (
    project_key, id, created_at, last_modified_at, created_by, version, last_modified_by, object_type
)
VALUES (
    %(project_key)s,
    %(id)s,
    date_trunc('milliseconds', statement_timestamp()),
    date_trunc('milliseconds', statement_timestamp()),
    %(last_modified_by)s,
    %(version)s,
    %(last_modified_by)s,
    %(object_type)s
)
RETURNING r.created_at
