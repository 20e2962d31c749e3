INSERT INTO access_token (digest, client_id, scopes, issued_at, expires_at, kept_until)
SELECT
    %(digest)s,
    id,
    coalesce(%(scopes)s, scopes),
    to_timestamp(%(issued_at)s),
    to_timestamp(%(expires_at)s),
    to_timestamp(%(kept_until)s)
FROM api_client
WHERE id = %(client_id)s
    AND secret_hash = %(secret_hash)s
    AND revoked_at IS NULL
    AND coalesce(%(scopes)s::text[] <@ scopes, true)
RETURNING access_token.scopes
