DELETE FROM sandbox_request_count
WHERE project_key = %(project_key)s
