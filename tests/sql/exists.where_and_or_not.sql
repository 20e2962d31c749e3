WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s
        AND r.key = %(where_0)s::text
        AND (
            r.version = %(where_1)s::numeric
            OR ((r.version > %(where_2)s::numeric) IS NOT TRUE OR (r.key IS NOT NULL) IS NOT TRUE)
        )
)
SELECT EXISTS (SELECT FROM found)
