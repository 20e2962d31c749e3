INSERT INTO resource (
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
    staged_some_property,
    sole
)
SELECT
    %(project_key)s,
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
    staged_some_property,
    c.sole
FROM resource_copy c
WHERE c.project_key = %(project_key)s AND c.name = %(name)s AND c.id = ANY (%(ids)s)
ON CONFLICT DO NOTHING
