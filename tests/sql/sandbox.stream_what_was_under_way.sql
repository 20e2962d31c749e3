SELECT r.arrived_us, r.place, r.ended_us, r.entry
FROM sandbox_entry r
    JOIN unnest(%(arrivals)s::bigint[], %(places)s::bigint[]) w (arrived_us, place) ON w.arrived_us = r.arrived_us
        AND w.place = r.place
WHERE r.project_key = %(project_key)s AND r.ended_us <= %(ended_by_us)s::bigint
