DROP TABLE sandbox_run;
ALTER TABLE sandbox_project DROP COLUMN allow;
