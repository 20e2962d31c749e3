WITH page AS MATERIALIZED (
    SELECT r.*
    FROM (
        SELECT r.*
        FROM resource r
        WHERE r.project_key = %(project_key)s
        ORDER BY r.id ASC
        LIMIT (SELECT %(limit)s::bigint)
        OFFSET (SELECT %(offset)s::bigint)
    ) r
    ORDER BY r.id ASC
)
SELECT
    '{"id":"' || r.id
        || '","version":' || r.version || coalesce(',"key":"' || r.key || '"', '')
        || ',"createdAt":"' || to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","lastModifiedAt":"' || to_char(r.last_modified_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","createdBy":{"typeId":"api-client","id":'
            || to_json(r.created_by)
            || coalesce(
                (
                    SELECT ',"obj":{"id":' || to_json(c.id)
                        || ',"name":' || to_json(c.name)
                        || ',"scopes":'
                            || array_to_json(
                                ARRAY(
                                    SELECT s.scope
                                    FROM unnest(c.scopes) WITH ORDINALITY s (scope, position)
                                    WHERE split_part(s.scope, ':', 2) = r.project_key
                                    ORDER BY s.position
                                )
                            )
                        || '}'
                    FROM api_client c
                    WHERE c.id = r.created_by
                ),
                ''
            )
        || '},"lastModifiedBy":{"typeId":"api-client","id":'
            || to_json(r.last_modified_by)
            || coalesce(
                (
                    SELECT ',"obj":{"id":' || to_json(c.id)
                        || ',"name":' || to_json(c.name)
                        || ',"scopes":'
                            || array_to_json(
                                ARRAY(
                                    SELECT s.scope
                                    FROM unnest(c.scopes) WITH ORDINALITY s (scope, position)
                                    WHERE split_part(s.scope, ':', 2) = r.project_key
                                    ORDER BY s.position
                                )
                            )
                        || '}'
                    FROM api_client c
                    WHERE c.id = r.last_modified_by
                ),
                ''
            )
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
            SELECT coalesce(
                (SELECT sum(c.resources) FROM resource_count c WHERE c.project_key = %(project_key)s),
                (SELECT count(*) FROM (SELECT FROM resource r WHERE r.project_key = %(project_key)s LIMIT 10000 + 1) r)
            )
            OFFSET 0
        ) t (number)
    ),
    ''
