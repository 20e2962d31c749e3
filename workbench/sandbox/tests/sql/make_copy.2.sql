SELECT c.id
FROM sandbox_copy c
WHERE c.project_key = %(project_key)s EXCEPT
SELECT r.id
FROM resource r
WHERE r.project_key = %(project_key)s
