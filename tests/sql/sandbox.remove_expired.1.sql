SELECT project_key
FROM sandbox_project
WHERE expires_at <= now() OR is_removed
ORDER BY expires_at
