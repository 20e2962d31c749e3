WITH noted AS (INSERT INTO unindexed_text (project_key, text) VALUES (%(project_key)s, %(new_words)s))
INSERT INTO resource AS r (
    project_key,
    id,
    version,
    key,
    created_at,
    last_modified_at,
    created_by,
    last_modified_by,
    object_type,
    staged_object_type,
    sole,
    arrays,
    staged_arrays,
    arrays_version
)
VALUES (
    %(project_key)s,
    %(new_id)s,
    1,
    %(new_key)s,
    date_trunc('milliseconds', %(now)s::timestamptz),
    date_trunc('milliseconds', %(now)s::timestamptz),
    %(client_id)s,
    %(client_id)s,
    %(new_object)s,
    %(new_staged_object)s,
    %(new_sole)s,
    %(new_arrays)s,
    %(new_staged_arrays)s,
    1
)
ON CONFLICT DO NOTHING
RETURNING
    r.id,
    r.version,
    r.key,
    r.created_at,
    r.last_modified_at,
    r.created_by,
    r.last_modified_by,
    r.object_type,
    r.some_property
