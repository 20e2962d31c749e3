-- Who may call: API clients and the keys that sign their tokens. Both belong to the service, not to a project; a
-- client's scopes name the projects.
-- depends: 0001.resource

SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '1min';

CREATE TABLE api_client (
    id          text COLLATE "C" PRIMARY KEY,
    name        text NOT NULL,
    -- SHA-256 of a random 256-bit secret: with that much entropy a slow hash adds nothing but cost.
    secret_hash bytea NOT NULL,
    scopes      text[] NOT NULL,
    created_at  timestamptz(3) NOT NULL,
    revoked_at  timestamptz(3)
);

CREATE TABLE signing_key (
    kid         text COLLATE "C" PRIMARY KEY,
    -- A JSON Web Key (RFC 7517), private part included.
    private_jwk text NOT NULL,
    created_at  timestamptz(3) NOT NULL,
    -- The key verifies until then; NULL: the key signs.
    retired_at  timestamptz(3)
);

-- At most one key signs, also when two processes start at once.
CREATE UNIQUE INDEX signing_key_one_signs ON signing_key ((true)) WHERE retired_at IS NULL;
