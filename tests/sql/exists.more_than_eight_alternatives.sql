WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s AND r.object @> ANY ((SELECT %(contained_0_0)s::jsonb[])::jsonb[])
)
SELECT EXISTS (SELECT FROM found)
