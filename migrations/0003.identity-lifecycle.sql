-- The end of things: keys that are replaced, tokens and clients that are revoked. On a distributed PostgreSQL all
-- identity tables are reference tables.
-- depends: 0002.identity

SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '1min';

ALTER TABLE signing_key
    -- What verifies, so that only who signs ever reads the private part.
    ADD COLUMN public_jwk text,
    -- A key is published before it signs, so that every process knows it when its first token arrives.
    ADD COLUMN signs_from timestamptz(3),
    -- The end of the longest token, if that is longer than usual: the key verifies until then.
    ADD COLUMN longest_token_until timestamptz(3);

UPDATE signing_key SET public_jwk = (private_jwk::jsonb - 'd')::text, signs_from = created_at;

ALTER TABLE signing_key
    ALTER COLUMN public_jwk SET NOT NULL,
    ALTER COLUMN signs_from SET NOT NULL;

COMMENT ON COLUMN signing_key.private_jwk IS
    'A JSON Web Key (RFC 7517), or that encrypted as a JSON Web Encryption (RFC 7516)';
COMMENT ON COLUMN signing_key.retired_at IS
    'The key verifies until then; NULL: it is the newest, which signs from signs_from until a newer one does';

-- Tokens that are no longer accepted though they have not expired.
CREATE TABLE revoked_token (
    -- The jti claim (RFC 7519, section 4.1.7) of a token that the service itself has signed.
    id         text COLLATE "C" PRIMARY KEY,
    revoked_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL
);

-- Processes ask every few seconds what has been revoked lately, and who revokes clears away what has expired.
CREATE INDEX revoked_token_revoked_at ON revoked_token (revoked_at);
CREATE INDEX revoked_token_expires_at ON revoked_token (expires_at);
CREATE INDEX api_client_revoked_at ON api_client (revoked_at) WHERE revoked_at IS NOT NULL;
