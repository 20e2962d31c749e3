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
    r.id::text,
    r.version,
    CASE
        WHEN w.id IS NULL
        THEN '{"id":"' || r.id
            || '","version":' || r.version || coalesce(',"key":"' || r.key || '"', '')
            || ',"createdAt":"' || to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
            || '","lastModifiedAt":"' || to_char(r.last_modified_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
            || '","createdBy":{"typeId":"api-client","id":' || to_json(r.created_by)
            || '},"lastModifiedBy":{"typeId":"api-client","id":' || to_json(r.last_modified_by)
            || '},"objectTypeProperty":'
                || r.object_type
                || coalesce(',"someProperty":' || to_json(r.some_property), '')
            || '}'
    END,
    (
        (%(expected)s::bigint IS NULL OR r.version = %(expected)s::bigint)
        AND (%(if_match)s::bigint[] IS NULL OR r.version = ANY (%(if_match)s::bigint[]))
        AND (%(if_none_match)s::bigint[] IS NULL OR r.version <> ALL (%(if_none_match)s::bigint[]))
        AND NOT %(only_create)s::boolean
    ),
    w.id,
    w.version,
    w.json
FROM counted c
    LEFT JOIN before r ON true
    LEFT JOIN (
        SELECT
            r.id::text AS id,
            r.version,
            '{"id":"' || r.id
                || '","version":' || r.version || coalesce(',"key":"' || r.key || '"', '')
                || ',"createdAt":"' || to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
                || '","lastModifiedAt":"'
                    || to_char(r.last_modified_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
                || '","createdBy":{"typeId":"api-client","id":' || to_json(r.created_by)
                || '},"lastModifiedBy":{"typeId":"api-client","id":' || to_json(r.last_modified_by)
                || '},"objectTypeProperty":'
                    || r.object_type
                    || coalesce(',"someProperty":' || to_json(r.some_property), '')
                || '}' AS json
        FROM written r
    ) w ON true
