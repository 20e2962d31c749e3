SELECT pg_try_advisory_lock_shared(1181052515, hashtext(%(project_key)s))
