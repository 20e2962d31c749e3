SELECT
    t.digest,
    t.client_id,
    t.scopes,
    extract(epoch FROM t.issued_at)::float8,
    extract(epoch FROM t.expires_at)::float8,
    t.revoked_at IS NOT NULL,
    c.id IS NULL OR c.revoked_at IS NOT NULL
FROM access_token t LEFT JOIN api_client c ON c.id = t.client_id
WHERE t.digest = ANY(%(digests)s)
