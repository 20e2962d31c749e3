SELECT
    ARRAY(SELECT public_jwk FROM signing_key WHERE retired_at IS NULL OR retired_at > now() ORDER BY created_at DESC),
    ARRAY(SELECT id FROM revoked_token WHERE revoked_at > now() - make_interval(secs => %(recent_s)s)),
    ARRAY(
        SELECT id
        FROM api_client
        WHERE revoked_at > now() - make_interval(secs => %(recent_s)s)
        UNION ALL
        SELECT id
        FROM removed_client
        WHERE removed_at > now() - make_interval(secs => %(recent_s)s)
    )
