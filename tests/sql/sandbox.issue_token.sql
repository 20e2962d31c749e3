SELECT c.scopes
FROM sandbox_project p JOIN api_client c ON c.id = p.client_id
WHERE p.project_key = %(project_key)s
