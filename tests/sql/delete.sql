WITH
    counted AS (SELECT 0 AS resources),
    before AS MATERIALIZED (
        SELECT r.* FROM resource r WHERE r.project_key = %(project_key)s AND r.id = %(id)s::uuid FOR UPDATE
    ),
    written AS (
        DELETE FROM resource r
        USING before b
        WHERE r.project_key = %(project_key)s
            AND r.id = b.id
            AND (%(expected)s::bigint IS NULL OR r.version = %(expected)s::bigint)
            AND (%(if_match)s::bigint[] IS NULL OR r.version = ANY (%(if_match)s::bigint[]))
            AND (%(if_none_match)s::bigint[] IS NULL OR r.version <> ALL (%(if_none_match)s::bigint[]))
            AND NOT %(only_create)s::boolean
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
    )
SELECT
    c.resources,
    (
        (%(expected)s::bigint IS NULL OR r.version = %(expected)s::bigint)
        AND (%(if_match)s::bigint[] IS NULL OR r.version = ANY (%(if_match)s::bigint[]))
        AND (%(if_none_match)s::bigint[] IS NULL OR r.version <> ALL (%(if_none_match)s::bigint[]))
        AND NOT %(only_create)s::boolean
    ),
    r.is_written,
    r.id,
    r.version,
    r.key,
    r.created_at,
    r.last_modified_at,
    r.created_by,
    r.last_modified_by,
    r.object_type,
    r.some_property
FROM counted c
    LEFT JOIN (
        SELECT true AS is_written, r.*
        FROM written r
        UNION ALL
        SELECT
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
        FROM before r
        WHERE NOT EXISTS (SELECT FROM written)
    ) r ON true
