SELECT
    p.project_key,
    p.client_id,
    c.secret_hash,
    p.is_removed,
    p.clock,
    p.ids,
    p.rules,
    p.rules_generation,
    p.token_epoch,
    p.token_ttl_s,
    p.run_id
FROM sandbox_project p LEFT JOIN api_client c ON c.id = p.client_id
WHERE p.project_key = %(project_key)s
