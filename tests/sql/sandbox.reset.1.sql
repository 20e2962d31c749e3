DELETE FROM sandbox_request
WHERE project_key = %(project_key)s
