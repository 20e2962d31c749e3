SELECT
    r.id,
    r.version,
    r.key,
    to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    to_char(r.last_modified_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    r.created_by,
    r.last_modified_by,
    r.object_type,
    r.some_property,
    r.staged_object_type,
    r.staged_some_property
FROM resource r
WHERE r.project_key = %(project_key)s AND r.id = ANY (%(ids)s)
ORDER BY r.id
