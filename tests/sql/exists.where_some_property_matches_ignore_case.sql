WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s
        AND lower(r.some_property COLLATE "default") = lower(%(where_0)s::text COLLATE "default")
)
SELECT EXISTS (SELECT FROM found)
