WITH
    found AS MATERIALIZED (
        SELECT r.id, r.version AS sort_0
        FROM resource r
        WHERE r.project_key = %(project_key)s AND r.object @> (SELECT %(where_0)s::jsonb)
        LIMIT 10000 + 1
    ),
    counted AS MATERIALIZED (SELECT count(*) AS found FROM found),
    page AS MATERIALIZED (
        SELECT r.*
        FROM (
            SELECT r.*, w.sort_0
            FROM (
                (
                    SELECT r.*
                    FROM found r
                    WHERE (SELECT found FROM counted) <= 10000
                    ORDER BY r.sort_0 ASC, r.id ASC
                    LIMIT (SELECT %(limit)s::bigint)
                    OFFSET (SELECT %(offset)s::bigint)
                )
                UNION ALL
                (
                    SELECT r.id, r.version AS sort_0
                    FROM resource r
                    WHERE (SELECT found FROM counted) > 10000
                        AND r.project_key = %(project_key)s
                        AND r.object @> (SELECT %(where_0)s::jsonb)
                    ORDER BY r.version ASC, r.id ASC
                    LIMIT (SELECT %(limit)s::bigint)
                    OFFSET (SELECT %(offset)s::bigint)
                )
            ) w
                CROSS JOIN LATERAL (
                    SELECT r.* FROM resource r WHERE r.project_key = %(project_key)s AND r.id = w.id LIMIT 1
                ) r
        ) r
        ORDER BY r.sort_0 ASC, r.id ASC
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
SELECT '', ''
