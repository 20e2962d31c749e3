DELETE FROM sandbox_project
WHERE project_key = %(project_key)s
