SELECT id
FROM revoked_token
WHERE expires_at < now() - interval '1 hour'
ORDER BY expires_at
LIMIT 1000
