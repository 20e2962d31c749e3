WITH counted AS (
    INSERT INTO sandbox_request_count AS c (project_key, requests)
    VALUES (%(project_key)s, %(count)s::bigint)
    ON CONFLICT (project_key) DO UPDATE
    SET requests = c.requests + excluded.requests
    RETURNING requests
)
INSERT INTO sandbox_request (project_key, ended_us, place, status, operation_id, method, entry)
SELECT
    %(project_key)s,
    split_part(k.line, ' ', 1)::bigint,
    split_part(k.line, ' ', 2)::bigint,
    nullif(split_part(k.line, ' ', 3), '')::int,
    nullif(split_part(k.line, ' ', 4), ''),
    split_part(k.line, ' ', 5),
    e.line
FROM counted c, string_to_table(%(keys)s, E'\n') WITH ORDINALITY k (line, number)
    JOIN string_to_table(%(entries)s, E'\n') WITH ORDINALITY e (line, number) ON e.number = k.number
ON CONFLICT DO NOTHING
