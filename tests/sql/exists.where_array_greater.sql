WITH found AS MATERIALIZED (
    SELECT FROM resource r WHERE r.project_key = %(project_key)s AND jsonb_path_exists(r.object, %(where_0)s::jsonpath)
)
SELECT EXISTS (SELECT FROM found)
