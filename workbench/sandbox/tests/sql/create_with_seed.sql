INSERT INTO sandbox_ids AS s (project_key, made)
VALUES (%(project_key)s, 1)
ON CONFLICT (project_key) DO UPDATE
SET made = s.made + 1
RETURNING made
