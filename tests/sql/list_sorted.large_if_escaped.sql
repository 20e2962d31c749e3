SELECT w.place, (octet_length(r.object_type) + coalesce(octet_length(to_json(r.some_property)::text), 0))
FROM unnest((SELECT %(ids)s::uuid[])) WITH ORDINALITY w (id, place)
    CROSS JOIN LATERAL (SELECT r.* FROM resource r WHERE r.project_key = %(project_key)s AND r.id = w.id LIMIT 1) r
