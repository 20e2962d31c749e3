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
    END
        AND (
            cardinality(c.passed) >= %(requests)s::int
            AND c.passed[1] > %(now)s::double precision - %(per_seconds)s::double precision
        ),
    acted = c.acted + (
        CASE
            WHEN %(first)s::bigint IS NOT NULL THEN c.matched < %(first)s::bigint
            WHEN %(after)s::bigint IS NOT NULL THEN c.matched >= %(after)s::bigint
            WHEN %(every)s::bigint IS NOT NULL THEN (c.matched + 1) %% %(every)s::bigint = 0
            WHEN %(threshold)s::bigint IS NOT NULL
                THEN (hashint8extended(c.matched + 1, %(seed)s::bigint) & %(mask)s::bigint) < %(threshold)s::bigint
            ELSE true
        END
        AND (
            cardinality(c.passed) >= %(requests)s::int
            AND c.passed[1] > %(now)s::double precision - %(per_seconds)s::double precision
        )
    )::int,
    free_at = c.passed[1] + %(per_seconds)s::double precision,
    passed = CASE
        WHEN NOT CASE
            WHEN %(first)s::bigint IS NOT NULL THEN c.matched < %(first)s::bigint
            WHEN %(after)s::bigint IS NOT NULL THEN c.matched >= %(after)s::bigint
            WHEN %(every)s::bigint IS NOT NULL THEN (c.matched + 1) %% %(every)s::bigint = 0
            WHEN %(threshold)s::bigint IS NOT NULL
                THEN (hashint8extended(c.matched + 1, %(seed)s::bigint) & %(mask)s::bigint) < %(threshold)s::bigint
            ELSE true
        END
            OR (
                cardinality(c.passed) >= %(requests)s::int
                AND c.passed[1] > %(now)s::double precision - %(per_seconds)s::double precision
            )
            THEN c.passed
        ELSE (c.passed || %(now)s::double precision)[greatest(1, cardinality(c.passed) + 2 - %(requests)s::int):]
    END
WHERE c.project_key = %(project_key)s AND c.generation = %(generation)s AND c.rule = %(rule)s
RETURNING c.acts, c.free_at
