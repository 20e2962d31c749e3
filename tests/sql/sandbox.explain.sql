EXPLAIN (FORMAT JSON) WITH found AS MATERIALIZED (SELECT FROM resource r WHERE r.project_key = %(project_key)s)
SELECT EXISTS (SELECT FROM found)
