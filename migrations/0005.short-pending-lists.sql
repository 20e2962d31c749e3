-- Short lists of pending entries, 256 kB of them and not 4 MB.
--
-- What is written waits in such a list until it is long enough to be sorted into its index, and every search reads all
-- of the list. The planner reckons with that too: with 500 pages pending it took the index for dearer than reading a
-- project whole. A shorter list makes a write no dearer, as was measured; without any, it takes a third longer.
-- depends: 0004.search

SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '1min';

ALTER INDEX resource_object SET (gin_pending_list_limit = 256);
ALTER INDEX resource_staged_object SET (gin_pending_list_limit = 256);
ALTER INDEX resource_words SET (gin_pending_list_limit = 256);
ALTER INDEX resource_staged_words SET (gin_pending_list_limit = 256);
