WITH found AS MATERIALIZED (
    SELECT FROM resource r WHERE r.project_key = %(project_key)s AND r.version = %(where_0)s::numeric
)
SELECT EXISTS (SELECT FROM found)
