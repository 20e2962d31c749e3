UPDATE sandbox_project
SET token_epoch = token_epoch + 1
WHERE project_key = %(project_key)s
