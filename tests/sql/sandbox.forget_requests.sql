DELETE FROM sandbox_request r
WHERE r.project_key = %(project_key)s
    AND (r.ended_us, r.place) <= (
        SELECT k.ended_us, k.place
        FROM sandbox_request k
        WHERE k.project_key = %(project_key)s
        ORDER BY k.ended_us DESC, k.place DESC
        OFFSET %(kept)s::bigint
        LIMIT 1
    )
