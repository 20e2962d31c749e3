SELECT count(*)
FROM sandbox_project
WHERE NOT is_removed
