SELECT count(*)
FROM (SELECT FROM unindexed_text u WHERE u.project_key = %(project_key)s LIMIT 10000) u
