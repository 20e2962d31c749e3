DELETE FROM sandbox_run_count
WHERE run_id = %(run_id)s
