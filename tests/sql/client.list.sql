SELECT id, name, scopes, created_at, revoked_at
FROM api_client
ORDER BY created_at, id
