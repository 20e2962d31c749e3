UPDATE sandbox_project
SET rules = %(rules)s, rules_generation = rules_generation + 1
WHERE project_key = %(project_key)s AND NOT is_removed
RETURNING rules_generation
