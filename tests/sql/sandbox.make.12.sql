INSERT INTO sandbox_run_count AS c (run_id, kind, name, n, examples)
SELECT %(run_id)s, a.kind, a.name, a.n, string_to_array(a.examples, E'\n')
FROM unnest(
    %(kinds)s::text[], %(names)s::text[], %(numbers)s::bigint[], %(examples)s::text[]
) WITH ORDINALITY a (kind, name, n, examples, row)
ORDER BY a.row
ON CONFLICT (run_id, kind, name) DO UPDATE
SET n = c.n + excluded.n, examples = (c.examples || excluded.examples)[1:%(examples_kept)s::int]
