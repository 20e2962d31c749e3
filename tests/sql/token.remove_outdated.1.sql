SELECT digest
FROM access_token
WHERE kept_until < now()
ORDER BY kept_until
LIMIT %(at_most)s
