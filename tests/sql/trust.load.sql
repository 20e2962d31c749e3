SELECT
    ARRAY(SELECT public_jwk FROM signing_key WHERE retired_at IS NULL OR retired_at > now() ORDER BY created_at DESC),
    ARRAY(SELECT id FROM revoked_token WHERE expires_at > now()),
    ARRAY(SELECT id FROM api_client WHERE revoked_at IS NOT NULL UNION ALL SELECT id FROM removed_client)
