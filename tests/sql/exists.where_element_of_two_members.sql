WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s
        AND (
            r.object @> (SELECT %(where_0)s::jsonb)
            AND jsonb_path_exists(r.object, %(where_1)s::jsonpath, %(where_2)s::jsonb)
        )
)
SELECT EXISTS (SELECT FROM found)
