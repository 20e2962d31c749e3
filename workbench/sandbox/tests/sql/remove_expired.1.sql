UPDATE sandbox_project
SET is_removed = true
WHERE project_key = %(project_key)s
