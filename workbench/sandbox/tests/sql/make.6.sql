INSERT INTO sandbox_run (run)
VALUES (%(run)s)
ON CONFLICT DO NOTHING
