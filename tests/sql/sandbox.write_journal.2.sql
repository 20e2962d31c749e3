WITH counted AS (
    INSERT INTO sandbox_request_count AS c (project_key, requests)
    VALUES (%(project_key)s, %(count)s::bigint)
    ON CONFLICT (project_key) DO UPDATE
    SET requests = c.requests + excluded.requests
    RETURNING requests
)
INSERT INTO sandbox_entry (project_key, arrived_us, place, ended_us, status, operation_id, method, entry)
SELECT %(project_key)s, l.arrived_us, l.place, l.ended_us, l.status, l.operation_id, l.method, l.entry
FROM counted c,
(
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
ON CONFLICT DO NOTHING
