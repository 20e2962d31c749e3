DELETE FROM access_token
WHERE digest = ANY(%(digests)s)
