INSERT INTO sandbox_project (
    project_key, client_id, created_at, expires_at, clock, ids, initial_clock, initial_ids, run, allow
)
VALUES (
    %(project_key)s,
    %(client_id)s,
    %(created_at)s,
    %(expires_at)s,
    %(clock)s,
    %(ids)s,
    %(initial_clock)s,
    %(initial_ids)s,
    %(run)s,
    %(allow)s
)
ON CONFLICT DO NOTHING
RETURNING project_key
