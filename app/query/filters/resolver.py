"""Parsed trees to resolved ones: paths become fields, literals become values of the fields' types.

All faults are collected, so that one answer names them all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app import errors
from app.query.fields import RESOURCE, Field, Kind
from app.query.filters.ast import (
    Bounds,
    Facet,
    FieldPath,
    Filter,
    ParsedFacet,
    Path,
    Presence,
    Range,
    Ranges,
    Subtree,
    Values,
)
from app.query.filters.parser import TERMS_AT_MOST, TOO_MANY_TERMS, parse_facet, parse_filter
from app.query.language import FAULTS_AT_MOST, InvalidExpression, place
from app.query.predicate.ast import AllOf, AnyOf, Condition, HasElement, Holds, Literal, Value
from app.query.predicate.operators import CLOSED_RANGE, OPERATORS, Operator
from app.query.predicate.values import did_you_mean, refused_literal, unknown_field, value_of

FACETS_AT_MOST = 50
"""Facets of a request: each is counted by itself."""

RANGES_AT_MOST = 100
"""Ranges of a facet: one scan counts them all, and each adds columns to it."""

Reason = str | errors.Fault


class InvalidExpressions(ValueError):
    """Filters or facets that are refused, with all reasons; one that is no text has a code of its own."""

    def __init__(self, reasons: Sequence[Reason]) -> None:
        super().__init__(f"{len(reasons)} faults")
        self.reasons = tuple(reasons)


def read_filters(texts: Sequence[str]) -> tuple[Filter, ...]:
    """What the filters of one parameter mean.

    :raises InvalidExpressions: with every fault of every filter.
    """
    faults = _Faults()
    filters: list[Filter] = []
    for text in texts:
        try:
            parsed = parse_filter(text)
        except InvalidExpression as error:
            faults.add(str(error))
            continue
        resolver = _Resolver(text, faults)
        found = resolver.path(parsed.path)
        if isinstance(found, FieldPath):
            condition = resolver.condition(found, parsed.path, parsed.expression)
            filters.append(Filter(found, condition))
        else:
            faults.add(f"{unknown_field(found.name, found.known)} {place(text, parsed.path.position)}")
    faults.raise_if_any()
    return tuple(filters)


def read_facets(texts: Sequence[str]) -> tuple[Facet, ...]:
    """What the facets mean.

    :raises InvalidExpressions: with every fault of every facet; an unknown path is ``SearchFacetPathNotFound``.
    """
    faults = _Faults()
    if len(texts) > FACETS_AT_MOST:
        faults.add(f"There are {len(texts)} facets, {FACETS_AT_MOST} are accepted.")
        faults.raise_if_any()
    facets: dict[str, Facet] = {}
    for text in texts:
        try:
            parsed = parse_facet(text)
        except InvalidExpression as error:
            faults.add(str(error))
            continue
        facet = _Resolver(text, faults).facet(parsed)
        if facet is None:
            continue
        if facet.name in facets:
            faults.add(f"Two facets are called '{facet.name}'. Name one with 'as'.")
        facets[facet.name] = facet
    faults.raise_if_any()
    return tuple(facets.values())


@dataclass(slots=True)
class _Faults:
    reasons: list[Reason] = field(default_factory=list[Reason])
    terms: int = 0

    def add(self, reason: Reason) -> None:
        if len(self.reasons) < FAULTS_AT_MOST:
            self.reasons.append(reason)

    def raise_if_any(self) -> None:
        if self.terms > TERMS_AT_MOST:
            self.reasons.insert(0, TOO_MANY_TERMS)
        if self.reasons:
            raise InvalidExpressions(self.reasons)


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A name of a path that no field has, and those that fields have there."""

    name: str
    known: tuple[str, ...]


_NOTHING = AllOf(())
"""Stands for a condition that has a fault: the whole is refused in the end."""


@dataclass(slots=True)
class _Resolver:
    """The resolution of one text."""

    text: str
    faults: _Faults

    def path(self, path: Path) -> FieldPath | _Unknown:
        known: Mapping[str, Field] = RESOURCE
        element_of: Field | None = None
        row: Field | None = None
        beginning = ""
        for name in path.text.split("."):
            if row is not None:
                beginning += f"{row.name}."
                if row.kind is Kind.OBJECTS:
                    element_of = row
            row_here = known.get(name)
            if row_here is None:
                return _Unknown(path.text, tuple(f"{beginning}{other}" for other in known))
            row, known = row_here, row_here.members
        if row is None:
            errors.unreachable("a path has a name")
        return FieldPath(row, element_of)

    # Filters

    def condition(self, at: FieldPath, path: Path, expression: Values | Ranges | Presence) -> Condition:
        """What an expression says of the field that a path names."""
        match expression:
            case Presence(exists):
                return self._presence(at, exists=exists)
            case _ if at.field.members:
                self._refuse_object(at, path, "'exists' and 'missing'")
                return _NOTHING
            case Values(items):
                return _at(at, Holds(at.field, OPERATORS["in"], self._values(at, path, items), negated=False))
            case Ranges(items):
                ranges = [self._bounds(at, path, item) for item in items]
                return AnyOf(tuple(self._in_range(at, bounds) for bounds in ranges))

    def _presence(self, at: FieldPath, *, exists: bool) -> Condition:
        """An array has a value if it has an element; a member, if an element has it."""
        if at.element_of is not None:
            return HasElement(at.element_of, _holds(at.field, "is defined"), negated=not exists)
        if at.field.kind in (Kind.TEXTS, Kind.NUMBERS, Kind.OBJECTS):
            return Holds(at.field, OPERATORS["is empty"], (), negated=exists)
        return Holds(at.field, OPERATORS["is defined"], (), negated=not exists)

    def _in_range(self, at: FieldPath, bounds: Bounds) -> Condition:
        low, high = bounds.low, bounds.high
        if low is None and high is None:
            return self._presence(at, exists=True)
        if low is None or high is None:
            operator, value = (">=", low) if high is None else ("<=", high)
            return _at(at, _holds(at.field, operator, *([] if value is None else [value])))
        if at.field.kind in (Kind.TEXTS, Kind.NUMBERS):
            # Both bounds must hold of the same element.
            return Holds(at.field, CLOSED_RANGE, (low, high), negated=False)
        return _at(at, AllOf((_holds(at.field, ">=", low), _holds(at.field, "<=", high))))

    # Facets

    def facet(self, parsed: ParsedFacet) -> Facet | None:
        """What a facet counts; None if there is a fault."""
        path = parsed.path
        at = self.path(path)
        if isinstance(at, _Unknown):
            hint = did_you_mean(at.name, at.known)
            self.faults.add(errors.facet_path_not_found(path.text[:100], hint))
            return None
        if at.field.members:
            self._refuse_object(at, path, "no facet")
            return None
        of: Condition | tuple[Bounds, ...] | None = None
        match parsed.expression:
            case Values() as values:
                of = self.condition(at, path, values)
            case Ranges(items):
                if at.field.kind not in (Kind.NUMBER, Kind.NUMBERS, Kind.TIME):
                    self._fault(f"The field '{path.text}' has no ranges; numbers and times have.", path.position)
                    return None
                if len(items) > RANGES_AT_MOST:
                    self._fault(f"There are {len(items)} ranges, {RANGES_AT_MOST} are accepted.", path.position)
                    return None
                of = tuple(self._bounds(at, path, item) for item in items)
            case None:
                pass
        return Facet(parsed.alias or path.text, at, of, parsed.counting_products)

    # Both

    def _values(self, at: FieldPath, path: Path, items: Sequence[Literal | Subtree]) -> tuple[Value, ...]:
        self.faults.terms += len(items)
        found: list[Value] = []
        for item in items:
            if isinstance(item, Subtree):
                self._fault(f"The field '{path.text}' is no hierarchy, it takes no 'subtree'.", item.position)
            else:
                value = self._value(at, path, item)
                if value is not None:
                    found.append(value)
        return tuple(found)

    def _bounds(self, at: FieldPath, path: Path, item: Range) -> Bounds:
        self.faults.terms += 1
        low = None if item.low is None else self._value(at, path, item.low)
        high = None if item.high is None else self._value(at, path, item.high)
        return Bounds(low, high)

    def _value(self, at: FieldPath, path: Path, literal: Literal) -> Value | None:
        value = value_of(literal, at.field.kind)
        if value is None:
            self._fault(refused_literal(path.text, at.field.kind, literal), literal.position)
        return value

    def _refuse_object(self, at: FieldPath, path: Path, takes: str) -> None:
        members = ", ".join(f"'{path.text}.{name}'" for name in at.field.members)
        self._fault(
            f"The field '{path.text}' does not support this expression. It takes {takes}; its members are {members}.",
            path.position,
        )

    def _fault(self, reason: str, position: int) -> None:
        self.faults.add(f"{reason} {place(self.text, position)}")


def _holds(of: Field, operator: str, *values: Value) -> Holds:
    row: Operator = OPERATORS[operator]
    return Holds(of, row, values, negated=False)


def _at(at: FieldPath, condition: Condition) -> Condition:
    """A condition on a field, or on that member of one element."""
    return condition if at.element_of is None else HasElement(at.element_of, condition, negated=False)
