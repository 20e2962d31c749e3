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
    )::int
WHERE c.project_key = %(project_key)s AND c.generation = %(generation)s AND c.rule = %(rule)s
RETURNING c.acts
