SELECT
    r.run,
    r.id,
    r.created_at,
    r.kept_until,
    coalesce((SELECT c.n FROM sandbox_run_count c WHERE c.run_id = r.id AND c.kind = 'project' AND c.name = ''), 0),
    coalesce((SELECT c.n FROM sandbox_run_count c WHERE c.run_id = r.id AND c.kind = 'request' AND c.name = ''), 0)
FROM sandbox_run r
WHERE r.run = coalesce(%(run)s, r.run)
ORDER BY r.created_at, r.run
