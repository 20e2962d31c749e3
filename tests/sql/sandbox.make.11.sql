SELECT
FROM sandbox_run
WHERE id = %(run_id)s
FOR KEY SHARE
