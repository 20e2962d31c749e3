SELECT id
FROM api_client
WHERE name = %(name)s AND scopes = %(scopes)s AND revoked_at IS NULL
ORDER BY created_at, id
LIMIT 1
