SELECT EXISTS (SELECT FROM resource r WHERE r.project_key = %(project_key)s)
