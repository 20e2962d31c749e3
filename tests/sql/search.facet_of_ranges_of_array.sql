WITH
    facet_0 AS MATERIALIZED (
        WITH
            range AS (
                SELECT
                    b.bounds_json,
                    b.number,
                    coalesce(width_bucket(b.low, (SELECT %(facet_0_bounds)s::bigint[])), 0) AS first,
                    coalesce(
                        width_bucket(b.high, (SELECT %(facet_0_bounds)s::bigint[])) - 1,
                        cardinality((SELECT %(facet_0_bounds)s::bigint[]))
                    ) AS last
                FROM unnest(
                    (SELECT %(facet_0_low)s::bigint[]),
                    (SELECT %(facet_0_high)s::bigint[]),
                    (SELECT %(facet_0_bounds_json)s::text[])
                ) WITH ORDINALITY b (low, high, bounds_json, number)
            ),
            part AS (
                SELECT
                    n.part,
                    n.next_part,
                    count(*) AS value_count,
                    sum(n.value) AS total,
                    min(n.value) AS least,
                    max(n.value) AS most
                FROM (
                    SELECT
                        v.value,
                        width_bucket(v.value, (SELECT %(facet_0_bounds)s::bigint[])) AS part,
                        width_bucket(v.next, (SELECT %(facet_0_bounds)s::bigint[])) AS next_part
                    FROM (
                        SELECT
                            jsonb_path_query(r.object, '$.arrayOfIntExample[*]')::bigint AS value,
                            jsonb_path_query(r.object, '$.arrayOfIntExample[1 to last]')::bigint AS next
                        FROM resource r
                        WHERE r.project_key = %(project_key)s
                    ) v
                ) n
                WHERE n.part IS NOT NULL
                GROUP BY n.part, n.next_part
            ),
            summed AS (
                SELECT
                    g.number,
                    g.bounds_json,
                    coalesce(sum(p.value_count) FILTER (WHERE p.next_part IS NULL OR p.next_part > g.last), 0) AS count,
                    coalesce(sum(p.value_count), 0) AS value_count,
                    coalesce(sum(p.total), 0) AS total,
                    coalesce(min(p.least), 0)::numeric AS least,
                    coalesce(max(p.most), 0)::numeric AS most
                FROM range g LEFT JOIN part p ON p.part BETWEEN g.first AND g.last
                GROUP BY g.number, g.bounds_json
            )
        SELECT '{"type":"range","ranges":['
            || (
                SELECT string_agg(
                    '{' || l.bounds_json
                        || '"count":' || l.count
                        || ',"productCount":' || l.count
                        || ',"total":'
                            || CASE
                                WHEN l.total = trunc(l.total) AND abs(l.total) < 1e21 THEN trunc(l.total)::text
                                WHEN abs(l.total) BETWEEN 1e-300 AND 1e300 THEN to_json(l.total::double precision)::text
                                ELSE l.total::text
                            END
                        || ',"min":'
                            || CASE
                                WHEN l.least = trunc(l.least) AND abs(l.least) < 1e21 THEN trunc(l.least)::text
                                WHEN abs(l.least) BETWEEN 1e-300 AND 1e300 THEN to_json(l.least::double precision)::text
                                ELSE l.least::text
                            END
                        || ',"max":'
                            || CASE
                                WHEN l.most = trunc(l.most) AND abs(l.most) < 1e21 THEN trunc(l.most)::text
                                WHEN abs(l.most) BETWEEN 1e-300 AND 1e300 THEN to_json(l.most::double precision)::text
                                ELSE l.most::text
                            END
                        || ',"mean":'
                            || CASE
                                WHEN coalesce(l.total / nullif(l.value_count, 0), 0) = trunc(
                                    coalesce(l.total / nullif(l.value_count, 0), 0)
                                )
                                    AND abs(coalesce(l.total / nullif(l.value_count, 0), 0)) < 1e21
                                    THEN trunc(coalesce(l.total / nullif(l.value_count, 0), 0))::text
                                WHEN abs(coalesce(l.total / nullif(l.value_count, 0), 0)) BETWEEN 1e-300 AND 1e300
                                    THEN to_json(
                                        coalesce(l.total / nullif(l.value_count, 0), 0)::double precision
                                    )::text
                                ELSE coalesce(l.total / nullif(l.value_count, 0), 0)::text
                            END
                        || '}',
                    ','
                    ORDER BY l.number
                )
                FROM summed l
            )
            || ']}' AS json
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
