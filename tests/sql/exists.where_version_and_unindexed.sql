WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s
        AND r.version = %(where_0)s::numeric
        AND lower(r.some_property COLLATE "default") = lower(%(where_1)s::text COLLATE "default")
)
SELECT EXISTS (SELECT FROM found)
