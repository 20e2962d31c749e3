-- With the sandbox, the service is one process: rules, their counts, the journal and runs lie in its memory.
-- depends: 0004.unnamed

SET LOCAL lock_timeout = '2s';
SET LOCAL statement_timeout = '30s';

DROP TABLE sandbox_request, sandbox_entry, sandbox_request_count, sandbox_rule_count, sandbox_run, sandbox_run_count;

ALTER TABLE sandbox_project DROP COLUMN rules;
ALTER TABLE sandbox_project DROP COLUMN rules_generation;
ALTER TABLE sandbox_project DROP COLUMN run_id;
ALTER TABLE sandbox_project DROP COLUMN judged_us;
ALTER TABLE sandbox_project DROP COLUMN judged_place;

-- The name of the run with which the project's requests are counted.
ALTER TABLE sandbox_project ADD COLUMN run text COLLATE "C";
