SELECT project_key, created_at, expires_at, token_ttl_s, clock, ids, snapshots, initial_clock, initial_ids
FROM sandbox_project
WHERE NOT is_removed AND project_key = coalesce(%(project_key)s, project_key)
ORDER BY created_at, project_key
