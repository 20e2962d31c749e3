WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s
        AND "left"(r.some_property, 400) >= %(where_0)s::text
        AND "left"(r.some_property, 400) <= %(where_0)s::text
    ORDER BY "left"(r.some_property, 400) ASC, r.id ASC
    LIMIT 1
)
SELECT EXISTS (SELECT FROM found)
