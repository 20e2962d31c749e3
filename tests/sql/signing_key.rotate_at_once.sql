UPDATE signing_key
SET retired_at = date_trunc('milliseconds', now())
WHERE retired_at IS NULL OR retired_at > now()
