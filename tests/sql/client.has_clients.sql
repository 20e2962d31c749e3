SELECT EXISTS (SELECT FROM api_client WHERE id <> %(command_line)s)
