SELECT EXISTS (SELECT FROM api_client c, unnest(c.scopes) s (scope) WHERE split_part(s.scope, ':', 2) = %(project_key)s)
