UPDATE signing_key
SET retired_at = greatest(now() + make_interval(secs => %(tokens_expire_in_s)s), longest_token_until)
WHERE retired_at IS NULL
