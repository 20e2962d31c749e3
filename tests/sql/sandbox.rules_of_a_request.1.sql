UPDATE sandbox_rule_count AS c
SET
    matched = c.matched + 1,
    acts = CASE
        WHEN %(first)s::bigint IS NOT NULL THEN c.matched < %(first)s::bigint
        WHEN %(after)s::bigint IS NOT NULL THEN c.matched >= %(after)s::bigint
        WHEN %(every)s::bigint IS NOT NULL THEN (c.matched + 1) %% %(every)s::bigint = 0
        WHEN %(threshold)s::bigint IS NOT NULL
            THEN (hashint8extended(c.matched + 1, %(seed)s::bigint) & %(mask)s::bigint) < %(threshold)s::bigint
        ELSE true
    END,
    acted = c.acted + (
        CASE
            WHEN %(first)s::bigint IS NOT NULL THEN c.matched < %(first)s::bigint
            WHEN %(after)s::bigint IS NOT NULL THEN c.matched >= %(after)s::bigint
            WHEN %(every)s::bigint IS NOT NULL THEN (c.matched + 1) %% %(every)s::bigint = 0
            WHEN %(threshold)s::bigint IS NOT NULL
                THEN (hashint8extended(c.matched + 1, %(seed)s::bigint) & %(mask)s::bigint) < %(threshold)s::bigint
            ELSE true
        END
    )::int
WHERE c.project_key = %(project_key)s AND c.generation = %(generation)s AND c.rule = %(rule)s
RETURNING c.acts
