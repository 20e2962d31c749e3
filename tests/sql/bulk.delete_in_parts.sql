DELETE FROM resource r
WHERE r.project_key = %(project_key)s
    AND r.id = ANY (ARRAY(SELECT s.id FROM resource s WHERE s.project_key = %(project_key)s LIMIT %(at_once)s))
