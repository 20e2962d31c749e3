DELETE FROM resource_count c
WHERE c.project_key = %(project_key)s
