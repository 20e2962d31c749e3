DROP TRIGGER IF EXISTS count_truncated ON resource;
DROP TRIGGER IF EXISTS count_deleted ON resource;
DROP TRIGGER IF EXISTS count_inserted ON resource;
DROP FUNCTION forget_resource_counts();
DROP FUNCTION count_resources();
DROP TABLE resource_count;
