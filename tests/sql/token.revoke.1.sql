DELETE FROM revoked_token
WHERE expires_at < now() - interval '1 hour'
