SELECT kind, name, n, examples
FROM sandbox_run_count
WHERE run_id = %(run_id)s
ORDER BY kind, name
