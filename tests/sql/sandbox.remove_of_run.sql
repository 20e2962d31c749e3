UPDATE sandbox_run
SET kept_until = greatest(kept_until, %(kept_until)s)
WHERE id = %(run_id)s
