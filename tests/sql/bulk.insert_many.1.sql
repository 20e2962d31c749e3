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
    some_property,
    staged_object_type,
    staged_some_property
)
VALUES (
    %(project_key)s,
    %(id)s,
    %(version)s,
    %(key)s,
    %(created_at)s,
    %(last_modified_at)s,
    %(created_by)s,
    %(last_modified_by)s,
    %(object_type)s,
    %(some_property)s,
    %(staged_object_type)s,
    %(staged_some_property)s
)
ON CONFLICT DO NOTHING
RETURNING r.id
