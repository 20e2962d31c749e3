SELECT kid, created_at, signs_from, retired_at, private_jwk
FROM signing_key
ORDER BY created_at, kid
