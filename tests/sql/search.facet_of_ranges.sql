WITH facet_0 AS MATERIALIZED (
    SELECT '{"type":"range","ranges":[{' || %(facet_0_0_bounds)s::text
        || '"count":' || count_0
        || ',"total":'
            || CASE
                WHEN sum_0 = trunc(sum_0) AND abs(sum_0) < 1e21 THEN trunc(sum_0)::text
                WHEN abs(sum_0) BETWEEN 1e-300 AND 1e300 THEN to_json(sum_0::double precision)::text
                ELSE sum_0::text
            END
        || ',"min":'
            || CASE
                WHEN min_0 = trunc(min_0) AND abs(min_0) < 1e21 THEN trunc(min_0)::text
                WHEN abs(min_0) BETWEEN 1e-300 AND 1e300 THEN to_json(min_0::double precision)::text
                ELSE min_0::text
            END
        || ',"max":'
            || CASE
                WHEN max_0 = trunc(max_0) AND abs(max_0) < 1e21 THEN trunc(max_0)::text
                WHEN abs(max_0) BETWEEN 1e-300 AND 1e300 THEN to_json(max_0::double precision)::text
                ELSE max_0::text
            END
        || ',"mean":'
            || CASE
                WHEN coalesce(sum_0 / nullif(values_0, 0), 0) = trunc(coalesce(sum_0 / nullif(values_0, 0), 0))
                    AND abs(coalesce(sum_0 / nullif(values_0, 0), 0)) < 1e21
                    THEN trunc(coalesce(sum_0 / nullif(values_0, 0), 0))::text
                WHEN abs(coalesce(sum_0 / nullif(values_0, 0), 0)) BETWEEN 1e-300 AND 1e300
                    THEN to_json(coalesce(sum_0 / nullif(values_0, 0), 0)::double precision)::text
                ELSE coalesce(sum_0 / nullif(values_0, 0), 0)::text
            END
        || '},{' || %(facet_0_1_bounds)s::text
        || '"count":' || count_1
        || ',"total":'
            || CASE
                WHEN sum_1 = trunc(sum_1) AND abs(sum_1) < 1e21 THEN trunc(sum_1)::text
                WHEN abs(sum_1) BETWEEN 1e-300 AND 1e300 THEN to_json(sum_1::double precision)::text
                ELSE sum_1::text
            END
        || ',"min":'
            || CASE
                WHEN min_1 = trunc(min_1) AND abs(min_1) < 1e21 THEN trunc(min_1)::text
                WHEN abs(min_1) BETWEEN 1e-300 AND 1e300 THEN to_json(min_1::double precision)::text
                ELSE min_1::text
            END
        || ',"max":'
            || CASE
                WHEN max_1 = trunc(max_1) AND abs(max_1) < 1e21 THEN trunc(max_1)::text
                WHEN abs(max_1) BETWEEN 1e-300 AND 1e300 THEN to_json(max_1::double precision)::text
                ELSE max_1::text
            END
        || ',"mean":'
            || CASE
                WHEN coalesce(sum_1 / nullif(values_1, 0), 0) = trunc(coalesce(sum_1 / nullif(values_1, 0), 0))
                    AND abs(coalesce(sum_1 / nullif(values_1, 0), 0)) < 1e21
                    THEN trunc(coalesce(sum_1 / nullif(values_1, 0), 0))::text
                WHEN abs(coalesce(sum_1 / nullif(values_1, 0), 0)) BETWEEN 1e-300 AND 1e300
                    THEN to_json(coalesce(sum_1 / nullif(values_1, 0), 0)::double precision)::text
                ELSE coalesce(sum_1 / nullif(values_1, 0), 0)::text
            END
        || '}]}' AS json
    FROM (
        SELECT
            count(*) FILTER (WHERE v.value IS NOT NULL AND v.to_0 AND true) AS count_0,
            count(*) FILTER (WHERE v.value IS NOT NULL AND v.to_0) AS values_0,
            coalesce(sum(v.value) FILTER (WHERE v.value IS NOT NULL AND v.to_0), 0)::numeric AS sum_0,
            coalesce(min(v.value) FILTER (WHERE v.value IS NOT NULL AND v.to_0), 0)::numeric AS min_0,
            coalesce(max(v.value) FILTER (WHERE v.value IS NOT NULL AND v.to_0), 0)::numeric AS max_0,
            count(*) FILTER (WHERE v.value IS NOT NULL AND v.from_1 AND true) AS count_1,
            count(*) FILTER (WHERE v.value IS NOT NULL AND v.from_1) AS values_1,
            coalesce(sum(v.value) FILTER (WHERE v.value IS NOT NULL AND v.from_1), 0)::numeric AS sum_1,
            coalesce(min(v.value) FILTER (WHERE v.value IS NOT NULL AND v.from_1), 0)::numeric AS min_1,
            coalesce(max(v.value) FILTER (WHERE v.value IS NOT NULL AND v.from_1), 0)::numeric AS max_1
        FROM (
            SELECT
                r.version AS value,
                r.version < %(facet_0_0_to)s::numeric AS to_0,
                r.version >= %(facet_0_1_from)s::numeric AS from_1
            FROM resource r
            WHERE r.project_key = %(project_key)s
        ) v
    ) f
)
SELECT '{"limit":' || %(limit)s
    || ',"offset":' || %(offset)s
    || ',"count":'
        || count(*)
        || (
            SELECT ',"total":'
                || least(t.found, 10000)
                || CASE WHEN t.found > 10000 THEN ',"totalCapped":true' ELSE '' END
            FROM (
                SELECT coalesce(
                    (SELECT sum(c.resources) FROM resource_count c WHERE c.project_key = %(project_key)s),
                    (
                        SELECT count(*)
                        FROM (SELECT FROM resource r WHERE r.project_key = %(project_key)s LIMIT 10000 + 1) r
                    )
                )
            ) t (found)
        )
    || ',"results":[' || coalesce(string_agg(p.json, ','), '')
    || '],"facets":{' || %(facet_0)s || (SELECT f.json FROM facet_0 f)
    || '}}'
FROM (
    SELECT '{"id":"' || r.id
        || '","version":' || r.version || coalesce(',"key":"' || r.key || '"', '')
        || ',"createdAt":"' || to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","lastModifiedAt":"' || to_char(r.last_modified_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","hasStagedChanges":'
            || (r.staged_object_type IS NOT NULL)
            || coalesce(',"someProperty":' || to_json(r.some_property), '')
            || CASE r.object_type WHEN '{}' THEN '}' ELSE ',' || substr(r.object_type, 2) END AS json
    FROM (
        SELECT r.*
        FROM resource r
        WHERE r.project_key = %(project_key)s
        ORDER BY r.id ASC
        LIMIT (SELECT %(limit)s::bigint)
        OFFSET (SELECT %(offset)s::bigint)
    ) r
    ORDER BY r.id ASC
) p
