SELECT EXISTS (SELECT FROM word WHERE project_key = %(project_key)s)
