UPDATE sandbox_rule_count AS c
SET
    matched = c.matched + 1,
    acts = (
        c.matched >= %(after)s::bigint
        AND (c.matched + 1 - %(after)s::bigint) %% %(every)s::bigint = 0
        AND (%(first)s::bigint IS NULL OR (c.matched + 1 - %(after)s::bigint) / %(every)s::bigint <= %(first)s::bigint)
        AND (
            %(threshold)s::bigint IS NULL
            OR (hashint8extended(c.matched + 1, %(seed)s::bigint) & %(mask)s::bigint) < %(threshold)s::bigint
        )
    )
        AND (
            cardinality(c.passed) >= %(requests)s::int
            AND c.passed[1] > %(now)s::double precision - %(per_seconds)s::double precision
        ),
    acted = c.acted + (
        (
            c.matched >= %(after)s::bigint
            AND (c.matched + 1 - %(after)s::bigint) %% %(every)s::bigint = 0
            AND (
                %(first)s::bigint IS NULL
                OR (c.matched + 1 - %(after)s::bigint) / %(every)s::bigint <= %(first)s::bigint
            )
            AND (
                %(threshold)s::bigint IS NULL
                OR (hashint8extended(c.matched + 1, %(seed)s::bigint) & %(mask)s::bigint) < %(threshold)s::bigint
            )
        )
        AND (
            cardinality(c.passed) >= %(requests)s::int
            AND c.passed[1] > %(now)s::double precision - %(per_seconds)s::double precision
        )
    )::int,
    free_at = c.passed[1] + %(per_seconds)s::double precision,
    passed = CASE
        WHEN NOT (
            c.matched >= %(after)s::bigint
            AND (c.matched + 1 - %(after)s::bigint) %% %(every)s::bigint = 0
            AND (
                %(first)s::bigint IS NULL
                OR (c.matched + 1 - %(after)s::bigint) / %(every)s::bigint <= %(first)s::bigint
            )
            AND (
                %(threshold)s::bigint IS NULL
                OR (hashint8extended(c.matched + 1, %(seed)s::bigint) & %(mask)s::bigint) < %(threshold)s::bigint
            )
        )
            OR (
                cardinality(c.passed) >= %(requests)s::int
                AND c.passed[1] > %(now)s::double precision - %(per_seconds)s::double precision
            )
            THEN c.passed
        ELSE (c.passed || %(now)s::double precision)[greatest(1, cardinality(c.passed) + 2 - %(requests)s::int):]
    END
WHERE c.project_key = %(project_key)s AND c.generation = %(generation)s AND c.rule = %(rule)s
RETURNING c.acts, c.free_at
