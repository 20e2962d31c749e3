WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s
        AND (
            (r.object @> (SELECT %(where_0)s::jsonb) OR r.object @> (SELECT %(where_1)s::jsonb))
            AND CASE WHEN r.version > 0 THEN true ELSE word_stems(r.created_by) IS NULL END
        )
)
SELECT EXISTS (SELECT FROM found)
