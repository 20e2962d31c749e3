CREATE INDEX resource_version_descending ON resource (project_key, version DESC, id);
CREATE INDEX resource_without_key ON resource (project_key, id) WHERE key IS NULL;
CREATE INDEX resource_without_some_property ON resource (project_key, id) WHERE some_property IS NULL;
CREATE INDEX resource_some_property ON resource (project_key, some_property, id)
    WHERE octet_length(some_property) <= 2000;
CREATE INDEX resource_some_property_descending ON resource (project_key, some_property DESC, id)
    WHERE octet_length(some_property) <= 2000;
CREATE INDEX resource_some_property_long ON resource (project_key, "left"(some_property, 400))
    WHERE octet_length(some_property) > 2000;
