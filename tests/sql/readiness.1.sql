SELECT id
FROM migration
