SELECT failed_count, last_failed_time
FROM pg_stat_archiver
WHERE last_failed_time > coalesce(last_archived_time, '-infinity') AND current_setting('archive_mode') <> 'off'
