SELECT
    0,
    (
        (%(expected)s::bigint IS NULL OR r.version = %(expected)s::bigint)
        AND (%(if_match)s::bigint[] IS NULL OR r.version = ANY (%(if_match)s::bigint[]))
        AND (%(if_none_match)s::bigint[] IS NULL OR r.version <> ALL (%(if_none_match)s::bigint[]))
        AND NOT %(only_create)s::boolean
    ),
    false,
    r.id,
    r.version,
    r.key,
    r.created_at,
    r.last_modified_at,
    r.created_by,
    r.last_modified_by,
    r.object_type,
    r.some_property
FROM resource r
WHERE r.project_key = %(project_key)s AND r.id = %(id)s::uuid
