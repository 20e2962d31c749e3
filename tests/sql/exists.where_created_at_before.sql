WITH found AS MATERIALIZED (
    SELECT FROM resource r WHERE r.project_key = %(project_key)s AND r.created_at <= %(where_0)s::timestamptz
)
SELECT EXISTS (SELECT FROM found)
