WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s AND (jsonb_array_length(r.object -> 'arrayOfIntExample') = 0) IS NOT FALSE
)
SELECT EXISTS (SELECT FROM found)
