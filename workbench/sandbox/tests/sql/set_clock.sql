UPDATE sandbox_project
SET clock = %(clock)s
WHERE project_key = %(project_key)s
