-- An order is one index, read forwards or backwards: absent values are above all others, and ties are in the order of ids in
-- the same direction. While they are built, others wait to write; on a large table build them by hand beforehand, with
-- CREATE INDEX CONCURRENTLY.
-- depends: 0007.created_as_only_once

SET LOCAL lock_timeout = '2s';
SET LOCAL statement_timeout = '5min';

CREATE INDEX IF NOT EXISTS resource_key ON resource (project_key, key, id);
-- An entry of a B-tree has at most 2704 bytes, and someProperty has no limit.
CREATE INDEX IF NOT EXISTS resource_some_property_beginning ON resource (project_key, "left"(some_property, 400), id);
