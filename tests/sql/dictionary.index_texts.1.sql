SELECT u.id
FROM unindexed_text u
WHERE u.project_key = %(project_key)s
LIMIT 64
FOR UPDATE SKIP LOCKED
