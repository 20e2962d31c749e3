WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s AND r.id >= %(where_0)s::uuid AND r.id <= %(where_0)s::uuid
    ORDER BY r.id ASC
    LIMIT 1
)
SELECT EXISTS (SELECT FROM found)
