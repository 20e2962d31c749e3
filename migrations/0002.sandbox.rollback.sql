ALTER TABLE sandbox_project DROP COLUMN token_ttl_s;
DROP TABLE sandbox_entry;
