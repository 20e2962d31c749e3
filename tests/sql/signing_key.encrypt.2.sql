UPDATE signing_key
SET private_jwk = %(private)s
WHERE kid = %(kid)s
