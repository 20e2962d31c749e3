DELETE FROM revoked_token
WHERE id = ANY(%(ids)s)
