WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s AND (r.array_of_int)[cardinality(r.array_of_int)] > %(where_0)s::numeric
)
SELECT EXISTS (SELECT FROM found)
