SELECT r.ended_us, r.place, r.entry
FROM sandbox_request r
WHERE r.project_key = %(project_key)s
    AND (r.ended_us, r.place) >= (%(first_us)s::bigint, %(first_place)s::bigint)
    AND (r.ended_us, r.place) <= (%(last_us)s::bigint, %(last_place)s::bigint)
