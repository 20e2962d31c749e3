SELECT
    p.project_key,
    p.created_at,
    p.expires_at,
    r.run,
    p.token_ttl_s,
    p.clock,
    p.ids,
    p.snapshots,
    p.initial_clock,
    p.initial_ids
FROM sandbox_project p LEFT JOIN sandbox_run r ON r.id = p.run_id
WHERE NOT p.is_removed AND p.project_key = coalesce(%(project_key)s, p.project_key)
ORDER BY p.created_at, p.project_key
