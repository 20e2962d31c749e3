INSERT INTO sandbox_rule_count (project_key, generation, rule, matched, acted)
SELECT %(project_key)s, %(generation)s, r.rule, 0, 0
FROM generate_series(0, %(rules)s::int - 1) r (rule)
ON CONFLICT DO NOTHING
