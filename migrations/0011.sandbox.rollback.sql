DROP TABLE sandbox_request, sandbox_request_count, sandbox_rule_count, sandbox_ids, sandbox_project, resource_copy,
    removed_client;
