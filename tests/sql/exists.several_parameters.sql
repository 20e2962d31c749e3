WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s
        AND r.object @> (SELECT %(where_0)s::jsonb)
        AND r.object @? (SELECT %(where_1)s::jsonpath)
)
SELECT EXISTS (SELECT FROM found)
