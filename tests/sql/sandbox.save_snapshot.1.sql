SELECT pg_advisory_xact_lock(1181052515, hashtext(%(project_key)s))
