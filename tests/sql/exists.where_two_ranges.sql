WITH found AS MATERIALIZED (
    SELECT
    FROM resource r
    WHERE r.project_key = %(project_key)s
        AND r.version >= %(where_0)s::numeric
        AND r.created_at > %(where_1)s::timestamptz
)
SELECT EXISTS (SELECT FROM found)
