WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s AND "left"(r.some_property, 400) = ANY (%(where_0)s::text[])
)
SELECT EXISTS (SELECT FROM found)
