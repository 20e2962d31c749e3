WITH written AS (
    UPDATE resource r
    SET
        version = r.version + 1,
        last_modified_at = date_trunc('milliseconds', %(now)s::timestamptz),
        last_modified_by = %(client_id)s
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
)
SELECT
    r.id::text AS id,
    r.version,
    '{"id":"' || r.id
        || '","version":' || r.version || coalesce(',"key":"' || r.key || '"', '')
        || ',"createdAt":"' || to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","lastModifiedAt":"' || to_char(r.last_modified_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","createdBy":{"typeId":"api-client","id":' || to_json(r.created_by)
        || '},"lastModifiedBy":{"typeId":"api-client","id":' || to_json(r.last_modified_by)
        || '},"objectTypeProperty":' || r.object_type || coalesce(',"someProperty":' || to_json(r.some_property), '')
        || '}' AS json
FROM written r
