INSERT INTO sandbox_ids (project_key, made)
VALUES (%(project_key)s, %(made)s)
ON CONFLICT (project_key) DO UPDATE
SET made = excluded.made
