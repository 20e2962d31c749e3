SELECT project_key, client_id, run_id, judged_us, judged_place
FROM sandbox_project
WHERE run_id = %(run_id)s
ORDER BY created_at, project_key
