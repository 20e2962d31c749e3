UPDATE sandbox_project
SET ids = %(ids)s
WHERE project_key = %(project_key)s
