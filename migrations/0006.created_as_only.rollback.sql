ALTER TABLE resource_copy ALTER COLUMN unnamed DROP DEFAULT;
ALTER TABLE resource DROP COLUMN created_as_only;
