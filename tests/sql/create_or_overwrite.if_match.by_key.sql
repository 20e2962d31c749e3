UPDATE resource r
SET
    version = r.version + 1,
    last_modified_at = date_trunc('milliseconds', now()),
    last_modified_by = %(client_id)s,
    object_type = %(current_object)s::text,
    arrays = %(current_arrays)s::array_values,
    staged_object_type = CASE
        WHEN (
            %(staged_object)s::text,
            CASE WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property END
        ) IS DISTINCT FROM (%(current_object)s::text, r.some_property)
        THEN %(staged_object)s::text
    END,
    staged_some_property = CASE
        WHEN (
            %(staged_object)s::text,
            CASE WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property END
        ) IS DISTINCT FROM (%(current_object)s::text, r.some_property)
        THEN CASE WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property END
    END,
    staged_arrays = CASE
        WHEN (
            %(staged_object)s::text,
            CASE WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property END
        ) IS DISTINCT FROM (%(current_object)s::text, r.some_property)
        THEN %(staged_arrays)s::array_values
    END,
    arrays_version = r.version + 1
WHERE r.project_key = %(project_key)s
    AND r.key = %(key)s
    AND r.version = ANY (%(if_match)s::bigint[])
    AND (
        %(touched)s::boolean
        OR %(current_object)s::text IS DISTINCT FROM r.object_type
        OR %(staged_object)s::text IS DISTINCT FROM coalesce(r.staged_object_type, r.object_type)
    )
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
