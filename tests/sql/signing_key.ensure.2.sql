INSERT INTO signing_key (kid, private_jwk, public_jwk, created_at, signs_from)
VALUES (
    %(kid)s,
    %(private)s,
    %(public)s,
    date_trunc('milliseconds', now()),
    date_trunc('milliseconds', now()) + make_interval(secs => %(signs_in_s)s)
)
ON CONFLICT DO NOTHING
