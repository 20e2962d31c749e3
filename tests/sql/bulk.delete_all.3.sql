DELETE FROM word w
WHERE w.project_key = %(project_key)s
