SELECT current_setting('citus.shard_count', true) IS NOT NULL
