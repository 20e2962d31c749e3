SELECT
FROM signing_key
WHERE retired_at IS NULL
