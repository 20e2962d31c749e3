SELECT
    r.number,
    r.entry,
    (%(status)s::int IS NULL OR r.status = %(status)s::int)
        AND (%(operation_id)s::text IS NULL OR r.operation_id = %(operation_id)s::text)
        AND (%(method)s::text IS NULL OR r.method = %(method)s::text) AS is_wanted
FROM (
    SELECT
        (
            SELECT c.requests FROM sandbox_request_count c WHERE c.project_key = %(project_key)s
        ) + 1 - row_number() OVER (ORDER BY r.ended_us DESC, r.place DESC) AS number,
        r.*
    FROM sandbox_request r
    WHERE r.project_key = %(project_key)s
    ORDER BY r.ended_us DESC, r.place DESC
    LIMIT %(kept)s::bigint
) r
ORDER BY r.number
