DELETE FROM sandbox_ids
WHERE project_key = %(project_key)s
