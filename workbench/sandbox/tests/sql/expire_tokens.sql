UPDATE sandbox_project
SET token_epoch = %(token_epoch)s
WHERE project_key = %(project_key)s
