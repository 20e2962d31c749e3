SELECT count(*)
FROM sandbox_run
