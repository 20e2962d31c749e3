SELECT
    (SELECT c.requests FROM sandbox_request_count c WHERE c.project_key = %(project_key)s) + 1 - r.rank AS number,
    r.arrived_us,
    r.place,
    r.ended_us,
    octet_length(r.entry) AS size,
    (r.rank <= %(kept)s::bigint AND (r.rank = 1 OR r.bytes <= %(bytes_kept)s::bigint)) AS is_kept,
    r.entry
FROM (
    SELECT r.*, row_number() OVER newest AS rank, sum(octet_length(r.entry)) OVER newest AS bytes
    FROM sandbox_entry r
    WHERE r.project_key = %(project_key)s WINDOW newest AS (
        ORDER BY r.arrived_us DESC, r.place DESC ROWS UNBOUNDED PRECEDING
    )
) r
ORDER BY r.rank DESC
