DELETE FROM sandbox_entry f
WHERE f.project_key = %(project_key)s
    AND (f.arrived_us, f.place) <= (
        SELECT r.arrived_us, r.place
        FROM (
            SELECT r.*, row_number() OVER newest AS rank, sum(octet_length(r.entry)) OVER newest AS bytes
            FROM sandbox_entry r
            WHERE r.project_key = %(project_key)s WINDOW newest AS (
                ORDER BY r.arrived_us DESC, r.place DESC ROWS UNBOUNDED PRECEDING
            )
        ) r
        WHERE NOT (r.rank <= %(kept)s::bigint AND (r.rank = 1 OR r.bytes <= %(bytes_kept)s::bigint))
        ORDER BY r.rank
        LIMIT 1
    )
