SELECT run
FROM sandbox_run
