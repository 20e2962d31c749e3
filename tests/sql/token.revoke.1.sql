INSERT INTO revoked_token (id, revoked_at, expires_at)
VALUES (%(id)s, statement_timestamp(), to_timestamp(%(expires_at)s))
ON CONFLICT DO NOTHING
