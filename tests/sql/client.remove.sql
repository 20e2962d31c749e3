DELETE FROM api_client
WHERE id = %(id)s
