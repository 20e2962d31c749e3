DELETE FROM sandbox_run
WHERE run = %(run)s
