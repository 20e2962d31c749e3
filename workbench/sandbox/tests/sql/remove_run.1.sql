UPDATE sandbox_project
SET run = NULL
WHERE run = %(run)s
