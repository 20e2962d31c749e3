SELECT kid, private_jwk
FROM signing_key
FOR UPDATE
