SELECT
    now(),
    ARRAY(SELECT public_jwk FROM signing_key WHERE retired_at IS NULL OR retired_at > now() ORDER BY created_at DESC),
    ARRAY(
        SELECT id
        FROM revoked_token
        WHERE expires_at > now() AND revoked_at > coalesce(%(since)s::timestamptz, '-infinity'::timestamptz)
    ),
    ARRAY(
        SELECT id
        FROM api_client
        WHERE revoked_at > coalesce(%(since)s::timestamptz, '-infinity'::timestamptz)
        UNION ALL
        SELECT id
        FROM removed_client
        WHERE removed_at > coalesce(%(since)s::timestamptz, '-infinity'::timestamptz)
    )
