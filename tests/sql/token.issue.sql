INSERT INTO access_token (digest, client_id, scopes, issued_at, expires_at, kept_until)
VALUES (
    %(digest)s,
    %(client_id)s,
    %(scopes)s,
    to_timestamp(%(issued_at)s),
    to_timestamp(%(expires_at)s),
    to_timestamp(%(kept_until)s)
)
