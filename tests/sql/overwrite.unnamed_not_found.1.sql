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
    r.staged_some_property,
    r.unnamed
FROM resource r
WHERE r.project_key = %(project_key)s
    AND r.id = coalesce(
        (SELECT u.id FROM resource u WHERE u.project_key = %(project_key)s AND u.unnamed AND u.key IS NULL),
        (
            SELECT (array_agg(o.id))[1]
            FROM (SELECT o.id FROM resource o WHERE o.project_key = %(project_key)s AND o.key IS NULL LIMIT 2) o
            HAVING count(*) = 1
        )
    )
