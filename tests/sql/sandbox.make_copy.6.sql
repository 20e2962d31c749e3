SELECT pg_advisory_unlock_shared(1181052515, hashtext(%(project_key)s))
