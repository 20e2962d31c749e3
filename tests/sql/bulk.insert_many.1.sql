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
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING
RETURNING r.id
