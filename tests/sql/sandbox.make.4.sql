INSERT INTO sandbox_run AS r (run, id, created_at, kept_until)
VALUES (%(run)s, %(id)s, %(created_at)s, %(kept_until)s)
ON CONFLICT (run) DO UPDATE
SET kept_until = greatest(r.kept_until, excluded.kept_until)
RETURNING id
