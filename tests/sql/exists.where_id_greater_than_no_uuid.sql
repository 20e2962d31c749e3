WITH found AS MATERIALIZED (
    SELECT FROM resource r WHERE r.project_key = %(project_key)s AND r.id::text COLLATE "C" > %(where_0)s::text
)
SELECT EXISTS (SELECT FROM found)
