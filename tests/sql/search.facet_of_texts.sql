WITH
    facet_0 AS MATERIALIZED (
        WITH counted AS MATERIALIZED (
            SELECT v.value, count(*) AS count
            FROM (
                SELECT e.value
                FROM resource r
                    LEFT JOIN LATERAL (
                        SELECT (jsonb_path_query(r.object, '$.arrayOfStringExample[*]') #>> '{}') COLLATE "C" AS value
                    ) e ON true
                WHERE r.project_key = %(project_key)s
            ) v
            GROUP BY v.value
        )
        SELECT '{"type":"terms","dataType":"text","missing":' || f.missing
            || ',"total":' || f.total
            || ',"other":' || f.total - shown.sum
            || ',"terms":[' || shown.terms
            || ']}' AS json
        FROM (
            SELECT
                coalesce(sum(c.count) FILTER (WHERE c.value IS NULL), 0) AS missing,
                coalesce(sum(c.count) FILTER (WHERE c.value IS NOT NULL), 0) AS total
            FROM counted c
        ) f
            CROSS JOIN (
                SELECT
                    coalesce(sum(t.count), 0) AS sum,
                    CASE
                        WHEN max(t.bytes) > 4194304 THEN NULL
                        ELSE coalesce(
                            string_agg(
                                CASE
                                    WHEN t.bytes <= 4194304
                                    THEN '{"term":' || to_json(t.value::text)::text || ',"count":' || t.count || '}'
                                END,
                                ','
                                ORDER BY t.count DESC, t.value
                            ),
                            ''
                        )
                    END AS terms
                FROM (
                    SELECT l.value, l.count, sum(octet_length(l.value)) OVER () AS bytes
                    FROM (
                        SELECT c.value, c.count
                        FROM counted c
                        WHERE c.value IS NOT NULL
                        ORDER BY c.count DESC, c.value
                        LIMIT 200
                    ) l
                ) t
            ) shown
    ),
    page AS MATERIALIZED (
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
        FROM (
            SELECT coalesce(
                (SELECT sum(c.resources) FROM resource_count c WHERE c.project_key = %(project_key)s),
                (SELECT count(*) FROM (SELECT FROM resource r WHERE r.project_key = %(project_key)s LIMIT 10000 + 1) r)
            )
            OFFSET 0
        ) t (number)
    ),
    ',"facets":{' || %(facet_label_0)s || (SELECT f.json FROM facet_0 f) || '}'
