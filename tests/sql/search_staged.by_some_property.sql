WITH page AS MATERIALIZED (
    SELECT r.*
    FROM (
        SELECT
            r.*,
            "left"(
                CASE WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property END, 400
            ) AS sort_0
        FROM resource r
        WHERE r.project_key = %(project_key)s
        ORDER BY "left"(
            CASE WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property END, 400
        ) ASC,
        r.id ASC
        LIMIT (SELECT %(limit)s::bigint)
        OFFSET (SELECT %(offset)s::bigint)
    ) r
    ORDER BY r.sort_0 ASC, r.id ASC
)
SELECT
    '{"id":"' || r.id
        || '","version":' || r.version || coalesce(',"key":"' || r.key || '"', '')
        || ',"createdAt":"' || to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","lastModifiedAt":"' || to_char(r.last_modified_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","hasStagedChanges":'
            || (r.staged_object_type IS NOT NULL)
            || coalesce(
                ',"someProperty":'
                    || to_json(
                        CASE WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property END
                    ),
                ''
            )
            || CASE
                coalesce(r.staged_object_type, r.object_type)
                WHEN '{}' THEN '}'
                ELSE ',' || substr(coalesce(r.staged_object_type, r.object_type), 2)
            END,
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
