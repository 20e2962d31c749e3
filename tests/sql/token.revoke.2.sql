INSERT INTO revoked_token (id, revoked_at, expires_at)
VALUES (%(id)s, now(), to_timestamp(%(expires_at)s))
ON CONFLICT DO NOTHING
