DELETE FROM sandbox_copy c
WHERE c.project_key = %(project_key)s
