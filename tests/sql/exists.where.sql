WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s AND r.key >= %(where_0)s::text AND r.key <= %(where_0)s::text
    ORDER BY r.key ASC, r.id ASC
    LIMIT 1
)
SELECT EXISTS (SELECT FROM found)
