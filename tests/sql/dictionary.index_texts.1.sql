DELETE FROM unindexed_text u
WHERE u.project_key = %(project_key)s
    AND u.ctid = ANY (
        ARRAY(SELECT u.ctid FROM unindexed_text u WHERE u.project_key = %(project_key)s LIMIT 64 FOR UPDATE SKIP LOCKED)
    )
RETURNING u.text
