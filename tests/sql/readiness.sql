SELECT migration_id
FROM _yoyo_migration
WHERE migration_id = ANY (%(needed)s)
