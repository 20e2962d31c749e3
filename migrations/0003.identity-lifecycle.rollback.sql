DROP TABLE revoked_token;
DROP INDEX api_client_revoked_at;
ALTER TABLE signing_key DROP COLUMN public_jwk, DROP COLUMN signs_from, DROP COLUMN longest_token_until;
