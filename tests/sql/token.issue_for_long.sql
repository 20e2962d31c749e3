UPDATE signing_key
SET
    longest_token_until = greatest(longest_token_until, to_timestamp(%(until)s)),
    retired_at = CASE WHEN retired_at IS NOT NULL THEN greatest(retired_at, to_timestamp(%(until)s)) END
WHERE kid = %(kid)s AND (retired_at IS NULL OR retired_at > now())
