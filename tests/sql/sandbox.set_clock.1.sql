SELECT clock, ids, snapshots, initial_clock, initial_ids
FROM sandbox_project
WHERE project_key = %(project_key)s AND NOT is_removed
FOR NO KEY
UPDATE
