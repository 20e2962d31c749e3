SELECT id, name, scopes, created_at, revoked_at
FROM api_client
WHERE id = %(id)s AND secret_hash = %(secret_hash)s AND revoked_at IS NULL
