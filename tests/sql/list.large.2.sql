SELECT
    '{"limit":' || %(limit)s
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
        || ',"results":[',
    CASE WHEN count(p.json) = count(*) THEN coalesce(string_agg(p.json, ','), '') END,
    CASE WHEN count(p.json) = count(*) THEN ']}' END
FROM (
    SELECT '["' || r.id || '",' || octet_length(r.object_type) || ',' || octet_length(r.object_type) || ']' AS json
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
