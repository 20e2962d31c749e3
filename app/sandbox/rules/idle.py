"""Why a rule cannot act, or cannot any more: what a tester wonders who waits for it."""

from collections.abc import Mapping, Sequence

from app.sandbox.rules.rules import Rule


def why_it_never_acts(
    rules: Sequence[Rule], rule: Rule, matched: int, methods: Mapping[str, frozenset[str]], expecting: frozenset[str]
) -> str | None:
    """The reason; None if the rule can act.

    :param rules: all of the project, in their order.
    :param matched: how many requests it has matched.
    :param methods: of each operation.
    :param expecting: the operations that can expect a version.
    """
    named = rule.match.operation_ids
    if named is not None and rule.match.method is not None:
        possible = frozenset[str]().union(*(methods.get(each, frozenset()) for each in named))
        if rule.match.method not in possible:
            return f"No operation that it names has the method {rule.match.method}."
    if rule.conflict:
        of_method = {each for each in expecting if rule.match.method in (None, *methods.get(each, ()))}
        if not of_method & (expecting if named is None else named):
            return "No request that it matches can expect a version, so nothing can be in conflict."
    if rule.times.probability == 0:
        return "Its probability is 0."
    if rule.times.last is not None and matched >= rule.times.last:
        return f"It was due until match {rule.times.last}, and has matched {matched}."
    return _hidden(rules[: rule.number], rule)


def _hidden(before: Sequence[Rule], rule: Rule) -> str | None:
    for other in before:
        is_certain = other.times.is_always and other.limit is None and not other.conflict
        if is_certain and other.match.covers(rule.match):
            if other.answers_itself:
                return f"Rule {other.label} answers each request that it matches."
            if other.connection is not None and rule.connection is not None:
                return f"Rule {other.label} spoils each connection that it would spoil."
    return None
