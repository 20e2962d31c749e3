-- What the indexes of the migration before take the place of. In a file of its own: to drop an index takes a lock that nobody
-- may hold beside, and building the others again with each attempt to get it would keep writers waiting.
-- Until processes of the release before end, their lists in the order of key, version and someProperty are slow.
-- depends: 0008.orders

SET LOCAL lock_timeout = '2s';
SET LOCAL statement_timeout = '30s';

DROP INDEX resource_version_descending;
DROP INDEX resource_without_key;
DROP INDEX resource_without_some_property;
DROP INDEX resource_some_property;
DROP INDEX resource_some_property_descending;
DROP INDEX resource_some_property_long;
