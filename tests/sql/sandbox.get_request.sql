SELECT r.number, r.entry
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
WHERE r.number = %(number)s::bigint
