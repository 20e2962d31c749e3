-- The resources that were there before the triggers, as one more slot of each project, -1.
--
-- Nobody waits for this. What the triggers have counted and what there is are read in one snapshot, and their difference
-- never changes afterwards, whatever is written meanwhile. It takes half a second for a million resources, and up to
-- three if they have never been vacuumed.
-- depends: 0007.resource-count
SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '60min';

INSERT INTO resource_count (project_key, slot, resources)
SELECT project_key, -1, coalesce(r.resources, 0) - coalesce(k.resources, 0)
FROM (SELECT project_key, count(*) AS resources FROM resource GROUP BY project_key) r
    FULL JOIN (SELECT project_key, sum(resources) AS resources FROM resource_count GROUP BY project_key) k
        USING (project_key)
WHERE coalesce(r.resources, 0) <> coalesce(k.resources, 0);
