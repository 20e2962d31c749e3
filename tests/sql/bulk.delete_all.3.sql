DELETE FROM unindexed_text u
WHERE u.project_key = %(project_key)s
