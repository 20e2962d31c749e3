WITH
    facet_0 AS MATERIALIZED (
        WITH counted AS MATERIALIZED (
            SELECT v.value, count(*) AS count
            FROM (
                SELECT r.key AS value
                FROM resource r
                WHERE r.project_key = %(project_key)s AND r.version = %(facet_filter_1_0)s::numeric
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
                        WHEN max(t.bytes) > 2097152 THEN NULL
                        ELSE coalesce(
                            string_agg(
                                CASE
                                    WHEN t.bytes <= 2097152
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
    facet_1 AS MATERIALIZED (
        WITH counted AS MATERIALIZED (
            SELECT v.value, count(*) AS count
            FROM (
                SELECT r.version AS value
                FROM resource r
                WHERE r.project_key = %(project_key)s
                    AND r.key >= %(facet_filter_0_0)s::text
                    AND r.key <= %(facet_filter_0_0)s::text
            ) v
            GROUP BY v.value
        )
        SELECT '{"type":"terms","dataType":"number","missing":' || f.missing
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
                    coalesce(
                        string_agg(
                            '{"term":'
                                || CASE
                                    WHEN t.value::numeric = trunc(t.value::numeric) AND abs(t.value::numeric) < 1e21
                                        THEN trunc(t.value::numeric)::text
                                    WHEN abs(t.value::numeric) BETWEEN 1e-300 AND 1e300
                                        THEN to_json(t.value::numeric::double precision)::text
                                    ELSE t.value::numeric::text
                                END
                                || ',"count":' || t.count
                                || '}',
                            ','
                            ORDER BY t.count DESC, t.value
                        ),
                        ''
                    ) AS terms
                FROM (
                    SELECT c.value, c.count
                    FROM counted c
                    WHERE c.value IS NOT NULL
                    ORDER BY c.count DESC, c.value
                    LIMIT 200
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
    ',"facets":{'
        || %(facet_label_0)s
        || (SELECT f.json FROM facet_0 f)
        || %(facet_label_1)s
        || (SELECT f.json FROM facet_1 f)
        || '}'
