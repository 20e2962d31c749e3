WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s
        AND (octet_length(r.some_property) <= 2000 AND r.some_property = ANY (%(where_0)s::text[]))
)
SELECT EXISTS (SELECT FROM found)
