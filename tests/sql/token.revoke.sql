UPDATE access_token
SET revoked_at = now()
WHERE digest = %(digest)s AND revoked_at IS NULL
