WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s
        AND (r.object @> (SELECT %(where_0)s::jsonb) OR r.object @> (SELECT %(where_1)s::jsonb))
)
SELECT EXISTS (SELECT FROM found)
