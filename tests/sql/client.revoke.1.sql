UPDATE api_client
SET revoked_at = now()
WHERE id = %(id)s AND revoked_at IS NULL
