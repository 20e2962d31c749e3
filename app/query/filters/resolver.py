"""Resolves parsed filters and facets: paths become fields, literals become values of the fields' types.

All faults are collected, so that one answer lists all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from app import errors
from app.query.fields import RESOURCE, Field
from app.query.filters.ast import (
    Bounds,
    Facet,
    FieldPath,
    Filter,
    ParsedFacet,
    ParsedFilter,
    Path,
    Presence,
    Range,
    Ranges,
    Subtree,
    Values,
)
from app.query.filters.parser import parse_facet, parse_filter
from app.query.kinds import Value
from app.query.language import TERMS_AT_MOST, Faults, place, trees_of
from app.query.predicate.ast import AllOf, AnyOf, Condition, HasElement, Holds, Literal
from app.query.predicate.operators import OPERATORS, Operator
from app.query.predicate.values import refused_literal, unknown_field
from app.values.suggestions import did_you_mean

FACETS_AT_MOST = 50
"""The most facets of a request, because each facet reads the resources again."""

RANGES_AT_MOST = 100
"""The most ranges of a facet. One scan counts all of them."""


def read_filters(texts: Sequence[str]) -> tuple[Filter, ...]:
    """Parse and resolve the filters of one parameter.

    :raises InvalidExpressions: with every fault of every filter.
    """
    faults = Faults()
    filters: list[Filter] = []
    for text, parsed in trees_of(texts, parse_filter, _terms_of, _TOO_MANY_TERMS, faults):
        resolver = _Resolver(text, faults)
        target = resolver.path(parsed.path)
        if isinstance(target, FieldPath):
            condition = resolver.condition(target, parsed.path, parsed.expression)
            filters.append(Filter(target, condition, _terms_of(parsed)))
        else:
            faults.add(f"{unknown_field(target.name, target.known)} {place(text, parsed.path.position)}")
    faults.raise_if_any()
    return tuple(filters)


def read_facets(texts: Sequence[str]) -> tuple[Facet, ...]:
    """Parse and resolve the facets.

    :raises InvalidExpressions: with every fault of every facet; an unknown path is ``SearchFacetPathNotFound``.
    """
    faults = Faults()
    if len(texts) > FACETS_AT_MOST:
        faults.add(f"There are {len(texts)} facets, {FACETS_AT_MOST} are accepted.")
        faults.raise_if_any()
    facets: dict[str, Facet] = {}
    for text, parsed in trees_of(texts, parse_facet, _terms_of, _TOO_MANY_TERMS, faults):
        facet = _Resolver(text, faults).facet(parsed)
        if facet is None:
            continue
        if facet.name in facets:
            faults.add(f"Two facets are called '{errors.shortened(facet.name)}'. Name one with 'as'.")
        facets[facet.name] = facet
    faults.raise_if_any()
    return tuple(facets.values())


_TOO_MANY_TERMS = f"There are more than {TERMS_AT_MOST} values and ranges."


def _terms_of(parsed: ParsedFilter | ParsedFacet) -> int:
    """The number of values and ranges of a filter or facet; ``exists`` and ``missing`` count as one."""
    match parsed.expression:
        case Values(items) | Ranges(items):
            return len(items)
        case Presence():
            return 1
        case None:
            return 0
        case _:
            assert_never(parsed.expression)


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A path with an unknown name, and the known paths for the suggestion in the message."""

    name: str
    known: tuple[str, ...]


_NOTHING = AllOf(())
"""Replaces a condition that has a fault. It is never compiled, because the request is refused."""


@dataclass(slots=True)
class _Resolver:
    """Resolves the tree of one filter or facet, and adds its faults to ``faults``."""

    text: str
    faults: Faults

    def path(self, path: Path) -> FieldPath | _Unknown:
        known: Mapping[str, Field] = RESOURCE
        element_of: Field | None = None
        row: Field | None = None
        beginning = ""
        for name in path.text.split("."):
            if row is not None:
                beginning += f"{row.name}."
                if row.is_array:
                    element_of = row
            row_here = known.get(name)
            if row_here is None:
                return _Unknown(path.text, tuple(f"{beginning}{other}" for other in known))
            row, known = row_here, row_here.members
        if row is None:
            errors.unreachable("a path has a name")
        return FieldPath(row, element_of)

    # Filters

    def condition(self, target: FieldPath, path: Path, expression: Values | Ranges | Presence) -> Condition:
        """The condition that the field of a path fulfils an expression."""
        match expression:
            case Presence(exists):
                return self._presence(target, exists=exists)
            case _ if target.field.members:
                self._refuse_object(target, path, "'exists' and 'missing'")
                return _NOTHING
            case Values(items):
                values = self._values(target, path, items)
                return _within_element(target, _holds(target.field, "=" if len(values) == 1 else "in", *values))
            case Ranges(items):
                ranges = [self._bounds(target, path, item) for item in items]
                return AnyOf(tuple(self._in_range(target, bounds) for bounds in ranges))
            case _:
                assert_never(expression)

    def _presence(self, target: FieldPath, *, exists: bool) -> Condition:
        """The condition that a field has a value, or has none.

        An array has a value if it has an element. A member of elements has a value if an element has the member.
        """
        if target.element_of is not None:
            return HasElement(target.element_of, _holds(target.field, "is defined"), negated=not exists)
        if target.field.is_array:
            return Holds(target.field, OPERATORS["is empty"], (), negated=exists)
        return Holds(target.field, OPERATORS["is defined"], (), negated=not exists)

    def _in_range(self, target: FieldPath, bounds: Bounds) -> Condition:
        low, high = bounds.low, bounds.high
        if low is None and high is None:
            return self._presence(target, exists=True)
        if low is None or high is None:
            operator, value = (">=", low) if high is None else ("<=", high)
            return _within_element(target, _holds(target.field, operator, *([] if value is None else [value])))
        both = AllOf((_holds(target.field, ">=", low), _holds(target.field, "<=", high)))
        if target.field.is_array:
            return HasElement(target.field, both, negated=False)  # one element within both bounds
        return _within_element(target, both)

    # Facets

    def facet(self, parsed: ParsedFacet) -> Facet | None:
        """Resolve a facet; None if it has a fault."""
        path = parsed.path
        target = self.path(path)
        if isinstance(target, _Unknown):
            hint = did_you_mean(target.name, target.known)
            self.faults.add(errors.facet_path_not_found(path.text[:100], hint))
            return None
        if target.field.members:
            self._refuse_object(target, path, "no facet")
            return None
        groups: Condition | tuple[Bounds, ...] | None = None
        match parsed.expression:
            case Values() as values:
                groups = self.condition(target, path, values)
            case Ranges(items):
                if not target.field.kind.amount:
                    self._fault(f"The field '{path.text}' has no ranges; numbers and times have.", path.position)
                    return None
                if len(items) > RANGES_AT_MOST:
                    self._fault(f"There are {len(items)} ranges, {RANGES_AT_MOST} are accepted.", path.position)
                    return None
                groups = tuple(self._bounds(target, path, item) for item in items)
            case None:
                pass
            case _:
                assert_never(parsed.expression)
        return Facet(parsed.alias or path.text, target, groups, parsed.counting_products)

    # Both

    def _values(self, target: FieldPath, path: Path, items: Sequence[Literal | Subtree]) -> tuple[Value, ...]:
        found: list[Value] = []
        for item in items:
            if isinstance(item, Subtree):
                self._fault(f"The field '{path.text}' is no hierarchy, it takes no 'subtree'.", item.position)
            else:
                value = self._value(target, path, item)
                if value is not None:
                    found.append(value)
        return tuple(found)

    def _bounds(self, target: FieldPath, path: Path, item: Range) -> Bounds:
        low = None if item.low is None else self._value(target, path, item.low)
        high = None if item.high is None else self._value(target, path, item.high)
        return Bounds(low, high)

    def _value(self, target: FieldPath, path: Path, literal: Literal) -> Value | None:
        value = target.field.kind.value_of(literal.value)
        if value is None:
            self._fault(refused_literal(path.text, target.field, literal), literal.position)
        return value

    def _refuse_object(self, target: FieldPath, path: Path, takes: str) -> None:
        members = ", ".join(f"'{path.text}.{name}'" for name in target.field.members)
        self._fault(
            f"The field '{path.text}' does not support this expression. It takes {takes}; its members are {members}.",
            path.position,
        )

    def _fault(self, reason: str, position: int) -> None:
        self.faults.add(f"{reason} {place(self.text, position)}")


def _holds(of: Field, operator: str, *values: Value) -> Holds:
    row: Operator = OPERATORS[operator]
    return Holds(of, row, values, negated=False)


def _within_element(target: FieldPath, condition: Condition) -> Condition:
    """The condition; if the field is a member of an array's elements, that one element fulfils the condition."""
    return condition if target.element_of is None else HasElement(target.element_of, condition, negated=False)
