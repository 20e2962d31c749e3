UPDATE resource SET unnamed = false WHERE unnamed AND key IS NOT NULL;
CREATE UNIQUE INDEX resource_unnamed_unique ON resource (project_key) WHERE unnamed;
DROP INDEX resource_unnamed_without_key;
