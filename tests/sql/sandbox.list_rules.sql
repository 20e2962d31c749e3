SELECT rule, matched, acted
FROM sandbox_rule_count
WHERE project_key = %(project_key)s AND generation = %(generation)s
