WITH
    found AS MATERIALIZED (
        SELECT r.id
        FROM resource r
        WHERE r.project_key = %(project_key)s
            AND (
                (
                    r.staged_object_type IS NULL AND r.object @> (SELECT %(filter_0_0)s::jsonb)
                    OR r.staged_object_type IS NOT NULL AND r.staged_object @> (SELECT %(filter_0_0)s::jsonb)
                )
                AND CASE WHEN r.version > 0 THEN true ELSE word_stems(r.created_by) IS NULL END
            )
            AND CASE
                WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property
            END = %(filter_1_0)s::text
            AND r.version = %(filter_2_0)s::numeric
        LIMIT 10000 + 1
    ),
    counted AS MATERIALIZED (SELECT count(*) AS number FROM found),
    page AS MATERIALIZED (
        SELECT r.*
        FROM (
            SELECT whole.*
            FROM (
                (
                    SELECT r.*
                    FROM found r
                    WHERE (SELECT number FROM counted) <= 10000
                    ORDER BY r.id ASC
                    LIMIT (SELECT %(limit)s::bigint)
                    OFFSET (SELECT %(offset)s::bigint)
                )
                UNION ALL
                (
                    SELECT r.id
                    FROM resource r
                    WHERE (SELECT number FROM counted) > 10000
                        AND r.project_key = %(project_key)s
                        AND CASE
                            WHEN (
                                (
                                    r.staged_object_type IS NULL AND r.object @> (SELECT %(filter_0_0)s::jsonb)
                                    OR r.staged_object_type IS NOT NULL
                                        AND r.staged_object @> (SELECT %(filter_0_0)s::jsonb)
                                )
                                AND CASE WHEN r.version > 0 THEN true ELSE word_stems(r.created_by) IS NULL END
                            )
                                THEN true
                            ELSE false
                        END
                        AND CASE
                            WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property
                        END = %(filter_1_0)s::text
                        AND r.version = %(filter_2_0)s::numeric
                    ORDER BY r.id ASC
                    LIMIT (SELECT %(limit)s::bigint)
                    OFFSET (SELECT %(offset)s::bigint)
                )
            ) hit
                CROSS JOIN LATERAL (
                    SELECT r.* FROM resource r WHERE r.project_key = %(project_key)s AND r.id = hit.id LIMIT 1
                ) whole
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
        SELECT ',"total":'
            || least(t.number, 10000)
            || CASE WHEN t.number > 10000 THEN ',"totalCapped":true' ELSE '' END
        FROM (SELECT number FROM counted OFFSET 0) t (number)
    ),
    ''
