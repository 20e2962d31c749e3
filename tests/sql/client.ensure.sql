INSERT INTO api_client (id, name, secret_hash, scopes, created_at)
VALUES (%(id)s, %(name)s, %(secret_hash)s, %(scopes)s, now())
ON CONFLICT DO NOTHING
