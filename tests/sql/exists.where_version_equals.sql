WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s AND r.version >= %(where_0)s::bigint AND r.version <= %(where_0)s::bigint
    ORDER BY r.version ASC, r.id ASC
    LIMIT 1
)
SELECT EXISTS (SELECT FROM found)
