SELECT id, name, scopes, created_at, revoked_at
FROM api_client
WHERE id = %(id)s
