SELECT scopes
FROM api_client
WHERE id = %(client_id)s
