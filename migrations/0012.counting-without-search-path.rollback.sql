ALTER FUNCTION forget_resource_counts() RESET search_path;
ALTER FUNCTION count_resources() RESET search_path;
