VACUUM (ANALYZE) resource, word, resource_count
