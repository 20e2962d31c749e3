SELECT r.run
FROM sandbox_run r
WHERE r.kept_until <= now() AND NOT EXISTS (SELECT FROM sandbox_project p WHERE p.run_id = r.id)
