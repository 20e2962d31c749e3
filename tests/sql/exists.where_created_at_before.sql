WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s AND r.created_at <= %(where_0)s::timestamptz
    ORDER BY r.created_at ASC, r.id ASC
    LIMIT 1
)
SELECT EXISTS (SELECT FROM found)
