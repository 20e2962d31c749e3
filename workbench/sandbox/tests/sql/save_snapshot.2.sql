UPDATE sandbox_project
SET snapshots = %(snapshots)s
WHERE project_key = %(project_key)s
