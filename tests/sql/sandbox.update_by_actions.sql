UPDATE resource r
SET
    version = r.version + 1,
    last_modified_at = date_trunc('milliseconds', %(now)s::timestamptz),
    last_modified_by = %(client_id)s,
    arrays_version = CASE WHEN r.arrays_version = r.version THEN r.version + 1 END
WHERE r.project_key = %(project_key)s
    AND r.id = %(id)s::uuid
    AND r.version = %(expected)s::bigint
    AND (%(touched)s::boolean)
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
