SELECT kid, private_jwk
FROM signing_key
WHERE signs_from <= now() AND (retired_at IS NULL OR retired_at > now())
ORDER BY signs_from DESC
LIMIT 1
