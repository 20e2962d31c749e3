WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s AND (jsonb_path_exists(r.object, %(where_0)s::jsonpath)) IS NOT TRUE
)
SELECT EXISTS (SELECT FROM found)
