INSERT INTO resource_copy (
    project_key,
    name,
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
    %(name)s,
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
    r.sole
FROM resource r
WHERE r.project_key = %(project_key)s
