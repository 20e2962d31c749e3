WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s AND r.key = %(where_0)s::text AND r.version = %(where_1)s::numeric
)
SELECT EXISTS (SELECT FROM found)
