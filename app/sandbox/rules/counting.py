"""How often each rule has matched and acted, counted by the database: exactly, over all workers and machines.

The row of a rule is locked by the statement that counts, so each request gets a number of its own, and whether the rule
is due follows from that number.
"""

from collections.abc import Mapping
from typing import Any, LiteralString

from app.database.connection import Connection
from app.sandbox.rules.rules import Limit, Rule

_MASK = 2**53 - 1

# Of the requests behind "after", each that "every" names, the "first" of these, and these by chance.
_DUE: LiteralString = """(c.matched >= %(after)s::bigint
        AND (c.matched + 1 - %(after)s::bigint) %% %(every)s::bigint = 0
        AND (%(first)s::bigint IS NULL
            OR (c.matched + 1 - %(after)s::bigint) / %(every)s::bigint <= %(first)s::bigint)
        AND (%(threshold)s::bigint IS NULL
            OR (hashint8extended(c.matched + 1, %(seed)s::bigint) & %(mask)s::bigint) < %(threshold)s::bigint))"""

_COUNT: LiteralString = f"""
UPDATE sandbox_rule_count AS c SET matched = c.matched + 1, acts = {_DUE}, acted = c.acted + ({_DUE})::int
WHERE c.project_key = %(project_key)s AND c.generation = %(generation)s AND c.rule = %(rule)s
RETURNING c.acts"""

# As many requests as the limit allows have passed, and the earliest of them within the period.
_FULL: LiteralString = """(cardinality(c.passed) >= %(requests)s::int
        AND c.passed[1] > %(now)s::double precision - %(per_seconds)s::double precision)"""

_LIMIT: LiteralString = f"""
UPDATE sandbox_rule_count AS c SET
    matched = c.matched + 1,
    acts = {_DUE} AND {_FULL},
    acted = c.acted + ({_DUE} AND {_FULL})::int,
    free_at = c.passed[1] + %(per_seconds)s::double precision,
    passed = CASE WHEN NOT {_DUE} OR {_FULL} THEN c.passed
        ELSE (c.passed || %(now)s::double precision)[greatest(1, cardinality(c.passed) + 2 - %(requests)s::int):] END
WHERE c.project_key = %(project_key)s AND c.generation = %(generation)s AND c.rule = %(rule)s
RETURNING c.acts, c.free_at"""

_BEGIN: LiteralString = """
INSERT INTO sandbox_rule_count (project_key, generation, rule, matched, acted)
SELECT %(project_key)s, %(generation)s, r.rule, 0, 0 FROM generate_series(0, %(rules)s::int - 1) r (rule)
ON CONFLICT DO NOTHING"""

_COUNTS: LiteralString = """
SELECT rule, matched, acted FROM sandbox_rule_count
WHERE project_key = %(project_key)s AND generation = %(generation)s"""

_END: LiteralString = """
DELETE FROM sandbox_rule_count WHERE project_key = %(project_key)s AND generation < %(generation)s"""


def begin_counts(connection: Connection, project_key: str, generation: int, rules: int) -> None:
    """Begin to count for new rules, and forget the counts of earlier ones."""
    connection.execute(_END, {"project_key": project_key, "generation": generation})
    connection.execute(_BEGIN, {"project_key": project_key, "generation": generation, "rules": rules})


def count_match(connection: Connection, project_key: str, generation: int, rule: Rule) -> bool:
    """Count a request that a rule without limit matches, and tell whether the rule is due for it."""
    row = _counted(connection, _COUNT, _parameters(project_key, generation, rule))
    return row is not None and row[0]


def count_limited(
    connection: Connection, project_key: str, generation: int, rule: Rule, limit: Limit, now: float
) -> float | None:
    """Count a request that a limit matches: None if it may pass, else the seconds until one may again.

    Exact for each period of that length: the times of the requests that passed last are stored.

    :param now: seconds since 1970.
    """
    parameters = {
        **_parameters(project_key, generation, rule),
        "requests": limit.requests,
        "per_seconds": limit.per_seconds,
        "now": now,
    }
    row = _counted(connection, _LIMIT, parameters)
    return max(0.0, row[1] - now) if row is not None and row[0] else None


def counts(connection: Connection, project_key: str, generation: int) -> dict[int, tuple[int, int]]:
    """How often each rule has matched and acted, by its number."""
    rows = connection.execute(_COUNTS, {"project_key": project_key, "generation": generation}).fetchall()
    return {row[0]: (row[1], row[2]) for row in rows}


def _counted(connection: Connection, statement: LiteralString, parameters: Mapping[str, Any]) -> tuple[Any, ...] | None:
    row = connection.execute(statement, parameters).fetchone()
    if row is None:  # the server has crashed and emptied the table
        connection.execute(_BEGIN, {**parameters, "rules": parameters["rule"] + 1})
        row = connection.execute(statement, parameters).fetchone()
    return row


def _parameters(project_key: str, generation: int, rule: Rule) -> dict[str, object]:
    times = rule.times
    return {
        "project_key": project_key,
        "generation": generation,
        "rule": rule.number,
        "first": times.first,
        "after": times.after or 0,
        "every": times.every or 1,
        "seed": times.seed,
        "threshold": None if times.probability is None else round(times.probability * (_MASK + 1)),
        "mask": _MASK,
    }
