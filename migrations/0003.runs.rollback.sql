ALTER TABLE sandbox_project DROP COLUMN judged_place;
ALTER TABLE sandbox_project DROP COLUMN judged_us;
ALTER TABLE sandbox_project DROP COLUMN run_id;
DROP TABLE sandbox_run_count;
DROP TABLE sandbox_run;
