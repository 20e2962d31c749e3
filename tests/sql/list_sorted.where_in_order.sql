WITH page AS MATERIALIZED (
    SELECT r.*
    FROM (
        SELECT r.*, r.created_at AS sort_0
        FROM resource r
        WHERE r.project_key = %(project_key)s AND r.created_at >= %(where_0)s::timestamptz
        ORDER BY r.created_at DESC, r.id DESC
        LIMIT (SELECT %(limit)s::bigint)
        OFFSET (SELECT %(offset)s::bigint)
    ) r
    ORDER BY r.sort_0 DESC, r.id DESC
)
SELECT
    '{"id":"' || r.id
        || '","version":' || r.version || coalesce(',"key":"' || r.key || '"', '')
        || ',"createdAt":"' || to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","lastModifiedAt":"' || to_char(r.last_modified_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","createdBy":{"typeId":"api-client","id":' || to_json(r.created_by)
        || '},"lastModifiedBy":{"typeId":"api-client","id":' || to_json(r.last_modified_by)
        || '},"objectTypeProperty":' || r.object_type || coalesce(',"someProperty":' || to_json(r.some_property), '')
        || '}',
    ''
FROM page r
UNION ALL
SELECT
    (
        SELECT ',"total":'
            || least(t.number, 10000)
            || CASE WHEN t.number > 10000 THEN ',"totalCapped":true' ELSE '' END
        FROM (
            SELECT count(*)
            FROM (
                SELECT
                FROM resource r
                WHERE r.project_key = %(project_key)s AND r.created_at >= %(where_0)s::timestamptz
                ORDER BY r.created_at DESC
                LIMIT (SELECT 10000 + 1)
            ) r
            OFFSET 0
        ) t (number)
    ),
    ''
