SELECT
    p.project_key,
    p.client_id,
    c.secret_hash,
    c.scopes,
    p.created_at,
    p.expires_at,
    p.clock,
    p.ids,
    p.initial_clock,
    p.initial_ids,
    p.run,
    p.allow,
    p.is_removed
FROM sandbox_project p LEFT JOIN api_client c ON c.id = p.client_id
