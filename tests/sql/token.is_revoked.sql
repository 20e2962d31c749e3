SELECT EXISTS (SELECT FROM revoked_token WHERE id = %(token_id)s)
    OR EXISTS (SELECT FROM api_client WHERE id = %(client_id)s AND revoked_at IS NOT NULL)
    OR EXISTS (SELECT FROM removed_client WHERE id = %(client_id)s)
