UPDATE signing_key
SET retired_at = now()
WHERE retired_at IS NULL OR retired_at > now()
