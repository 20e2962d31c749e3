WITH
    found AS MATERIALIZED (
        SELECT r.id, ts_rank(r.words, (SELECT %(tsquery)s::tsquery)) AS sort_0
        FROM resource r
        WHERE r.project_key = %(project_key)s AND r.words @@ (SELECT %(tsquery)s::tsquery)
        LIMIT 10000 + 1
    ),
    counted AS MATERIALIZED (SELECT count(*) AS number FROM found),
    page AS MATERIALIZED (
        SELECT r.*
        FROM (
            SELECT whole.*, hit.sort_0
            FROM (
                (
                    SELECT r.*
                    FROM found r
                    WHERE (SELECT number FROM counted) <= 10000
                    ORDER BY r.sort_0 DESC, r.id ASC
                    LIMIT (SELECT %(limit)s::bigint)
                    OFFSET (SELECT %(offset)s::bigint)
                )
                UNION ALL
                (
                    SELECT r.id, ts_rank(r.words, (SELECT %(tsquery)s::tsquery)) AS sort_0
                    FROM resource r
                    WHERE (SELECT number FROM counted) > 10000
                        AND r.project_key = %(project_key)s
                        AND r.words @@ (SELECT %(tsquery)s::tsquery)
                    ORDER BY ts_rank(r.words, (SELECT %(tsquery)s::tsquery)) DESC, r.id ASC
                    LIMIT (SELECT %(limit)s::bigint)
                    OFFSET (SELECT %(offset)s::bigint)
                )
            ) hit
                CROSS JOIN LATERAL (
                    SELECT r.* FROM resource r WHERE r.project_key = %(project_key)s AND r.id = hit.id LIMIT 1
                ) whole
        ) r
        ORDER BY r.sort_0 DESC, r.id ASC
    )
SELECT
    '{"id":"' || r.id
        || '","version":' || r.version || coalesce(',"key":"' || r.key || '"', '')
        || ',"createdAt":"' || to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","lastModifiedAt":"' || to_char(r.last_modified_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","hasStagedChanges":'
            || (r.staged_object_type IS NOT NULL)
            || coalesce(',"someProperty":' || to_json(r.some_property), '')
            || CASE r.object_type WHEN '{}' THEN '}' ELSE ',' || substr(r.object_type, 2) END,
    ''
FROM page r
UNION ALL
SELECT
    (
        SELECT ',"total":'
            || least(t.number, 10000)
            || CASE WHEN t.number > 10000 THEN ',"totalCapped":true' ELSE '' END
        FROM (SELECT number FROM counted OFFSET 0) t (number)
    ),
    ''
