UPDATE sandbox_entry r
SET ended_us = l.ended_us, status = l.status, entry = l.entry
FROM (
    SELECT
        split_part(k.line, ' ', 1)::bigint AS arrived_us,
        split_part(k.line, ' ', 2)::bigint AS place,
        nullif(split_part(k.line, ' ', 3), '')::bigint AS ended_us,
        nullif(split_part(k.line, ' ', 4), '')::int AS status,
        nullif(split_part(k.line, ' ', 5), '') AS operation_id,
        split_part(k.line, ' ', 6) AS method,
        e.line AS entry
    FROM string_to_table(%(keys)s, E'\n') WITH ORDINALITY k (line, number)
        JOIN string_to_table(%(entries)s, E'\n') WITH ORDINALITY e (line, number) ON e.number = k.number
) l
WHERE r.project_key = %(project_key)s AND r.arrived_us = l.arrived_us AND r.place = l.place
