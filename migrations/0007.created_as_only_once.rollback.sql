DROP INDEX resource_created_as_only;
