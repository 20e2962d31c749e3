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
    staged_some_property
)
SELECT %(project_key)s, s.*
FROM sandbox_copy c,
LATERAL (
    SELECT
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
    FROM jsonb_populate_record(NULL::resource, c.stored)
) s
WHERE c.project_key = %(project_key)s AND c.id = ANY (%(ids)s)
