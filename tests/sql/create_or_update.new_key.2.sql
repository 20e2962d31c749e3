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
    unnamed,
    array_of_string
)
VALUES (
    %(project_key)s,
    %(id)s,
    date_trunc('milliseconds', now()),
    date_trunc('milliseconds', now()),
    %(last_modified_by)s,
    %(version)s,
    %(last_modified_by)s,
    %(key)s,
    %(object_type)s,
    %(unnamed)s,
    %(array_of_string)s
)
RETURNING r.created_at
