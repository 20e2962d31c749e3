WITH found AS MATERIALIZED (SELECT FROM resource r WHERE r.project_key = %(project_key)s AND false)
SELECT EXISTS (SELECT FROM found)
