UPDATE access_token
SET revoked_at = now()
WHERE client_id = %(client_id)s AND revoked_at IS NULL
