WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s
        AND EXISTS (
            SELECT
            FROM jsonb_array_elements_text(r.object -> 'arrayOfStringExample') e (value)
            WHERE lower(e.value COLLATE "default") = lower(%(where_0)s::text COLLATE "default")
        )
)
SELECT EXISTS (SELECT FROM found)
