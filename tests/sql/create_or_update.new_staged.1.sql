SELECT
    r.id,
    r.version,
    r.key,
    r.created_at,
    r.last_modified_at,
    r.created_by,
    r.last_modified_by,
    r.object_type,
    r.some_property,
    r.staged_object_type,
    r.staged_some_property
FROM resource r
WHERE r.project_key = %(project_key)s AND r.key = %(key)s
