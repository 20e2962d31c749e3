WITH found AS MATERIALIZED (SELECT FROM resource r WHERE r.project_key = %(project_key)s AND r.key IS NOT NULL)
SELECT EXISTS (SELECT FROM found)
