WITH page AS MATERIALIZED (
    SELECT r.*
    FROM (
        SELECT r.*, r.version AS sort_0, r.key AS sort_1
        FROM resource r
        WHERE r.project_key = %(project_key)s
        ORDER BY r.version ASC, r.key ASC, r.id ASC
        LIMIT (SELECT %(limit)s::bigint)
        OFFSET (SELECT %(offset)s::bigint)
    ) r
    ORDER BY r.sort_0 ASC, r.sort_1 ASC, r.id ASC
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
        SELECT ',"total":' || least(t.found, 10000) || CASE WHEN t.found > 10000 THEN ',"totalCapped":true' ELSE '' END
        FROM (
            SELECT coalesce(
                (SELECT sum(c.resources) FROM resource_count c WHERE c.project_key = %(project_key)s),
                (SELECT count(*) FROM (SELECT FROM resource r WHERE r.project_key = %(project_key)s LIMIT 10000 + 1) r)
            )
        ) t (found)
    ),
    ''
