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
SELECT %(project_key)s, s.*
FROM unnest(
    %(id)s::uuid[],
    %(version)s::bigint[],
    %(key)s::text[],
    %(created_at)s::timestamptz[],
    %(last_modified_at)s::timestamptz[],
    %(created_by)s::text[],
    %(last_modified_by)s::text[],
    %(object_type)s::text[],
    %(some_property)s::text[],
    %(staged_object_type)s::text[],
    %(staged_some_property)s::text[]
) s
ON CONFLICT DO NOTHING
RETURNING r.id
