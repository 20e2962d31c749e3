SELECT id, name, scopes, created_at, revoked_at, secret_hash
FROM api_client
WHERE id = %(id)s
