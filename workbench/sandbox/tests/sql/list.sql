SELECT ids, initial_clock, initial_ids
FROM sandbox_project
WHERE project_key = %(project_key)s AND client_id = %(client_id)s AND NOT is_removed
