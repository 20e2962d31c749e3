SELECT
    l.number,
    l.arrived_us,
    l.place,
    l.ended_us,
    octet_length(l.entry) AS size,
    l.is_wanted,
    CASE
        WHEN l.is_wanted AND l.nth BETWEEN %(offset)s::bigint + 1 AND %(offset)s::bigint + %(limit)s::bigint
        THEN l.entry
    END AS entry
FROM (
    SELECT w.*, count(*) FILTER (WHERE w.is_wanted) OVER (ORDER BY w.number DESC ROWS UNBOUNDED PRECEDING) AS nth
    FROM (
        SELECT
            r.*,
            (%(status)s::int IS NULL OR r.status = %(status)s::int)
                AND (%(operation_id)s::text IS NULL OR r.operation_id = %(operation_id)s::text)
                AND (%(method)s::text IS NULL OR r.method = %(method)s::text)
                AND (%(number)s::numeric IS NULL OR r.number = %(number)s::numeric) AS is_wanted
        FROM (
            SELECT
                (
                    SELECT c.requests FROM sandbox_request_count c WHERE c.project_key = %(project_key)s
                ) + 1 - r.rank AS number,
                r.arrived_us,
                r.place,
                r.ended_us,
                r.status,
                r.operation_id,
                r.method,
                r.entry
            FROM (
                SELECT r.*, row_number() OVER newest AS rank, sum(octet_length(r.entry)) OVER newest AS bytes
                FROM sandbox_entry r
                WHERE r.project_key = %(project_key)s WINDOW newest AS (
                    ORDER BY r.arrived_us DESC, r.place DESC ROWS UNBOUNDED PRECEDING
                )
            ) r
            WHERE (r.rank <= %(kept)s::bigint AND (r.rank = 1 OR r.bytes <= %(bytes_kept)s::bigint))
        ) r
    ) w
) l
ORDER BY l.number
