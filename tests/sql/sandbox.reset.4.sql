DELETE FROM sandbox_entry
WHERE project_key = %(project_key)s
