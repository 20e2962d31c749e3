COPY resource (
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
FROM STDIN
