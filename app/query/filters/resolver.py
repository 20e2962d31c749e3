"""Resolves parsed filters and facets: paths become fields, literals become values of the fields' types.

Faults are collected over all texts of a parameter, up to as many as an answer lists. A fault hides those that depend on
it: an unknown path hides those of its values, and too many terms hide the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from marshmallow import ValidationError

from app import errors
from app.query.fields import RESOURCE, Field
from app.query.filters.parser import (
    ParsedFacet,
    ParsedFilter,
    Presence,
    Range,
    Ranges,
    Values,
    parse_facet,
    parse_filter,
)
from app.query.kinds import Value
from app.query.language import TERMS_AT_MOST, Faults, Literal, place, trees_of
from app.query.messages import refused_literal, shown, similar_or_all, unknown_field
from app.query.predicate.conditions import AllOf, AnyOf, Condition, HasElement, Holds
from app.query.predicate.operators import OPERATORS
from app.query.predicate.parser import Name
from app.values.strict_json import HugeNumber

FACETS_AT_MOST = 50
"""The most facets of a request, because each facet reads the resources again."""

RANGES_AT_MOST = 100
"""The most ranges of a facet. One scan counts all of them."""

# The resolved tree


@dataclass(frozen=True, slots=True)
class FieldPath:
    """The field that a path names. If the field is a member of an array's elements, ``element_of`` is the array."""

    field: Field
    element_of: Field | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on the field that a path names.

    :param terms: the number of its values and ranges; ``exists`` and ``missing`` count as one.
    """

    path: FieldPath
    condition: Condition
    terms: int


Bounds = tuple[Value | None, Value | None]
"""A range. A facet counts values from the first bound to less than the second; a filter includes the second. None is an
open end."""


@dataclass(frozen=True, slots=True)
class Facet:
    """A facet: it counts resources by the values of a field.

    :param name: its name in the answer: the alias, or the path if it has none.
    :param groups: a condition to count the resources that fulfil it; ranges to count the resources with a value in
        each, with statistics of these values; None to count the resources with each value that occurs.
    :param counting_products: whether the result repeats each count as ``productCount``.
    """

    name: str
    path: FieldPath
    groups: Condition | tuple[Bounds, ...] | None
    counting_products: bool


# Reading

_TOO_MANY_TERMS = f"There are more than {TERMS_AT_MOST} values and ranges."


def read_filters(texts: Sequence[str]) -> tuple[Filter, ...]:
    """Parse and resolve the filters of one parameter.

    :raises ValidationError: with the faults of all filters, but at most :data:`app.errors.FAULTS_AT_MOST`.
    """
    faults = Faults(_TOO_MANY_TERMS)
    filters = [_Resolver(text, faults).filter(parsed) for text, parsed in trees_of(texts, parse_filter, faults)]
    faults.raise_if_any()
    # The test is for the type checker. A filter is None only if it has a fault, and then raise_if_any has raised.
    return tuple([each for each in filters if each is not None])


def read_facets(texts: Sequence[str]) -> tuple[Facet, ...]:
    """Parse and resolve the facets of a search. Two facets with one name are a fault.

    :raises ValidationError: with the faults of all facets, but at most :data:`app.errors.FAULTS_AT_MOST`. The fault of
        an unknown path has the code ``SearchFacetPathNotFound``. More than :data:`FACETS_AT_MOST` facets are a single
        fault, and then no facet is parsed.
    """
    faults = Faults(_TOO_MANY_TERMS)
    if len(texts) > FACETS_AT_MOST:
        raise ValidationError(f"There are {len(texts)} facets, {FACETS_AT_MOST} are accepted.")
    facets: dict[str, Facet] = {}
    for text, parsed in trees_of(texts, parse_facet, faults):
        facet = _Resolver(text, faults).facet(parsed)
        if facet is None:
            continue
        if facet.name in facets:
            faults.add(f"Two facets are called '{errors.shortened(facet.name)}'. Name one with 'as'.")
        facets[facet.name] = facet
    faults.raise_if_any()
    return tuple(facets.values())


def _paths_of(fields: Mapping[str, Field], prefix: str = "", element_of: Field | None = None) -> dict[str, FieldPath]:
    """The paths of fields and of their members, at every depth; each path with the field that it names.

    :param prefix: the beginning of every path. If the fields are members of an object or of an array's elements, it is
        the path of that object or array, followed by a dot.
    :param element_of: the array, if the fields are members of an array's elements.
    """
    paths: dict[str, FieldPath] = {}
    for name, field in fields.items():
        paths[f"{prefix}{name}"] = FieldPath(field, element_of)
        paths |= _paths_of(field.members, f"{prefix}{name}.", field if field.is_array else element_of)
    return paths


_PATHS = _paths_of(RESOURCE)


def _candidates(path: str) -> Sequence[str]:
    """The known paths that the hint for an unknown path may name.

    For ``a.b.x`` these are the paths that begin with ``a.b.``. If there are none, or the unknown path has no dot, these
    are all known paths.
    """
    parent, _, _ = path.rpartition(".")
    return [each for each in _PATHS if each.startswith(f"{parent}.")] or list(_PATHS)


_REFUSED = AllOf(())
"""Replaces a refused condition on an object. It is never compiled, because the request is refused."""


@dataclass(slots=True)
class _Resolver:
    """Resolves the tree of one filter or facet, and adds its faults to ``faults``."""

    text: str
    faults: Faults

    # Filters

    def filter(self, parsed: ParsedFilter) -> Filter | None:
        """Resolve a filter; None if its path is unknown."""
        path, expression = parsed.path, parsed.expression
        terms = 1 if isinstance(expression, Presence) else len(expression.items)
        self.faults.count_terms(terms)
        target = _PATHS.get(path.text)
        if target is None:
            self._fault(unknown_field(path.text, _candidates(path.text)), path.position)
            return None
        return Filter(target, self.condition(target, path, expression), terms)

    def condition(self, target: FieldPath, path: Name, expression: Values | Ranges | Presence) -> Condition:
        """Resolve an expression to a condition on the field ``target``. The faults of the expression are added to
        ``faults``; after a fault, the returned condition is never compiled.

        :param path: the path as the request writes it, and its position, for the messages of the faults.
        """
        if target.field.members and not isinstance(expression, Presence):
            self._refuse_object(target, path, "'exists' and 'missing'")
            return _REFUSED
        match expression:
            case Presence(exists):
                return self._presence(target, exists=exists)
            case Values(items):
                values = self._values(target, path, items)
                # "=" for one value: an index in the order of the field serves "=", but not "in" (see Index.ORDER).
                return _within_element(target, _holds(target.field, "=" if len(values) == 1 else "in", *values))
            case Ranges(items):
                ranges = [self._bounds(target, path, item) for item in items]
                return AnyOf(tuple(self._in_range(target, bounds) for bounds in ranges))

    def _presence(self, target: FieldPath, *, exists: bool) -> Condition:
        """The condition that a field has a value, or has none.

        An array has a value if it has an element; an empty array counts as absent. A member of the objects in an array
        has a value if at least one of the objects has the member.
        """
        if target.element_of is not None:
            return HasElement(target.element_of, _holds(target.field, "is defined"), negated=not exists)
        if target.field.is_array:  # "is empty" holds for an absent array, too; `exists` negates it
            return Holds(target.field, OPERATORS["is empty"], (), negated=exists)
        return Holds(target.field, OPERATORS["is defined"], (), negated=not exists)

    def _in_range(self, target: FieldPath, bounds: Bounds) -> Condition:
        """The condition that a field has a value within the bounds; of an array, that one item is within both of them.
        If both ends are open, the condition that the field has any value."""
        compared = zip((">=", "<="), bounds, strict=True)
        tests = [_holds(target.field, operator, value) for operator, value in compared if value is not None]
        if not tests:
            return self._presence(target, exists=True)
        if target.field.is_array and len(tests) == 2:
            # AllOf alone would also be true if one item passed the first test and another item the second. HasElement
            # demands one item that passes both. A single test needs no HasElement: on an array it means that some item
            # passes it.
            return HasElement(target.field, AllOf(tuple(tests)), negated=False)
        return _within_element(target, AllOf(tuple(tests)))

    # Facets

    def facet(self, parsed: ParsedFacet) -> Facet | None:
        """Resolve a facet: its path becomes a field; its values, if it has any, become the condition that a resource
        has one of them; its ranges become bounds (:attr:`Facet.groups`). The faults are added to ``faults``.

        Return None in these cases:

        - The path is unknown, or names an object or an array of objects.
        - The facet has ranges, but the field contains texts or ids.
        - The facet has too many ranges.

        A facet whose only faults are values or bounds is returned, because :func:`read_facets` still compares its name
        with the names of the other facets. A facet with faults is never compiled, because the request is refused.

        :raises ValidationError: as :meth:`Faults.add` and :meth:`Faults.count_terms` do.
        """
        path = parsed.path
        self.faults.count_terms(0 if parsed.expression is None else len(parsed.expression.items))
        target = _PATHS.get(path.text)
        if target is None:
            hint = similar_or_all(path.text, _candidates(path.text))
            self.faults.add(errors.facet_path_not_found(path.text[:100], hint))
            return None
        if target.field.members:
            self._refuse_object(target, path, "no facet")
            return None
        groups: Condition | tuple[Bounds, ...] | None = None
        if isinstance(parsed.expression, Values):
            groups = self.condition(target, path, parsed.expression)
        elif parsed.expression is not None:
            items = parsed.expression.items
            if not target.field.kind.amount:
                self._fault(f"A facet on '{path.text}' has no ranges; facets on numbers and times have.", path.position)
                return None
            if len(items) > RANGES_AT_MOST:
                self._fault(f"There are {len(items)} ranges, {RANGES_AT_MOST} are accepted.", path.position)
                return None
            groups = tuple(self._bounds(target, path, item) for item in items)
        return Facet(parsed.alias or path.text, target, groups, parsed.counting_products)

    # Filters and facets

    def _values(self, target: FieldPath, path: Name, items: Sequence[Literal]) -> tuple[Value, ...]:
        """The values of literals; a refused one is left out, and its fault is added."""
        found = [self._value(target, path, item) for item in items]
        return tuple([value for value in found if value is not None])

    def _bounds(self, target: FieldPath, path: Name, item: Range) -> Bounds:
        """The bounds of a range; a refused one is None, and its fault is added."""
        low, high = item
        return self._bound(target, path, low), self._bound(target, path, high)

    def _bound(self, target: FieldPath, path: Name, literal: Literal | None) -> Value | None:
        """The value of a bound; None for an open end, and for a refused bound, whose fault is added.

        A number beyond all doubles is refused, because a facet's result repeats its bounds as JSON numbers. Filters
        follow the same rule.
        """
        if literal is None:
            return None
        if isinstance(literal.value, HugeNumber):
            self._fault(f"The bound {shown(literal.value)} is a number that no double can hold.", literal.position)
            return None
        return self._value(target, path, literal)

    def _value(self, target: FieldPath, path: Name, literal: Literal) -> Value | None:
        """The value that a literal stands for; None for a refused one, whose fault is added."""
        value = target.field.kind.value_of(literal.value)
        if value is None:
            self._fault(refused_literal(path.text, target.field, literal), literal.position)
        return value

    def _refuse_object(self, target: FieldPath, path: Name, takes: str) -> None:
        """Add the fault of a filter or facet on an object or an array of objects. A filter on such a field can only be
        ``exists`` or ``missing``, and a facet on it is never possible. The message lists the members of the field.

        :param path: the path as the request writes it.
        :param takes: the words of the message after "It takes": ``'exists' and 'missing'`` for a filter, ``no facet``
            for a facet.
        """
        members = ", ".join(f"'{path.text}.{name}'" for name in target.field.members)
        self._fault(
            f"The field '{path.text}' does not support this expression. It takes {takes}; its members are {members}.",
            path.position,
        )

    def _fault(self, reason: str, position: int) -> None:
        """Add a fault, with the place in the text of this filter or facet to which it refers."""
        self.faults.add(f"{reason} {place(self.text, position)}")


def _holds(of: Field, operator: str, *values: Value) -> Holds:
    """The comparison of a field by an operator, not negated."""
    return Holds(of, OPERATORS[operator], values, negated=False)


def _within_element(target: FieldPath, condition: Condition) -> Condition:
    """Wrap a condition on a member of an array's elements, so that a single element has to fulfil all of it. Return any
    other condition unchanged."""
    return condition if target.element_of is None else HasElement(target.element_of, condition, negated=False)
