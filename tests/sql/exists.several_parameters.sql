WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s
        AND r.object @> (SELECT %(contained_0_0)s::jsonb)
        AND (r.object @> (SELECT %(contained_1_0)s::jsonb) OR r.object @> (SELECT %(contained_1_1)s::jsonb))
)
SELECT EXISTS (SELECT FROM found)
