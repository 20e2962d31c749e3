UPDATE resource r
SET
    version = r.version + 1,
    last_modified_at = date_trunc('milliseconds', now()),
    last_modified_by = %(client_id)s,
    staged_object_type = CASE
        WHEN (r.object_type, r.some_property) IS DISTINCT FROM (r.object_type, r.some_property) THEN r.object_type
    END,
    staged_some_property = CASE
        WHEN (r.object_type, r.some_property) IS DISTINCT FROM (r.object_type, r.some_property) THEN r.some_property
    END,
    staged_arrays = CASE
        WHEN (r.object_type, r.some_property) IS DISTINCT FROM (r.object_type, r.some_property) THEN r.arrays
    END,
    arrays_version = CASE WHEN r.arrays_version = r.version THEN r.version + 1 END
WHERE r.project_key = %(project_key)s
    AND r.id = %(id)s::uuid
    AND r.version = %(expected)s::bigint
    AND (
        %(touched)s::boolean
        OR r.object_type IS DISTINCT FROM coalesce(r.staged_object_type, r.object_type)
        OR r.some_property IS DISTINCT FROM CASE
            WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property
        END
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
