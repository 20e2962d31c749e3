SELECT EXISTS (SELECT FROM resource WHERE project_key = %(project_key)s)
