SELECT project_key, client_id, run_id, judged_us, judged_place
FROM sandbox_project
WHERE project_key = %(project_key)s AND run_id IS NOT NULL
