"""Compiles a resolved condition to SQL. Values become parameters, so that the SQL consists of literal strings only.

A comparison that must be true becomes a bare SQL comparison, which an index can serve. A comparison that is negated, or
that is true for an absent field, says explicitly what NULL means. On an array, an equality with one value and
``contains all`` become containment (``@>``) of a document; an equality with one of several values, also of several
arrays, ``<`` and its like, and a condition on an element become a jsonpath; ``matches ignore case`` and ``is empty``
have SQL of their own. The GIN index of documents serves containment, and jsonpaths that demand an equality. A
jsonpath is a parameter that contains the values, because the operator that the index serves takes no variables.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import isinf
from typing import Any, LiteralString, TypeGuard, assert_never
from uuid import UUID

from app.query import kinds
from app.query.fields import BEGINNING_LENGTH, CONTAINS, DOCUMENT, FOUND_BY, Field, Index, Projection
from app.query.kinds import Value
from app.query.predicate.conditions import AllOf, AnyOf, Condition, Contains, HasElement, Holds
from app.query.predicate.operators import OPERATORS, Arity, ArraySearch
from app.query.sql_text import numbered, placeholder
from app.values.strict_json import encode

SqlParameter = str | UUID | datetime | list["SqlParameter"]


@dataclass(frozen=True, slots=True)
class Clause:
    """An SQL condition on ``r`` and its parameters.

    :param terms: the terms of the condition, joined by AND.
    """

    terms: tuple["ClauseTerm", ...]
    parameters: dict[str, SqlParameter]

    @property
    def text(self) -> LiteralString:
        """The SQL condition of a scan that finds the rows in any order."""
        return " AND ".join([term.text for term in self.terms])

    @property
    def in_order(self) -> LiteralString:
        """The SQL condition of a scan that reads the rows in the order of a page, and ends when the page is full.

        No GIN index of documents or words can serve this form, whatever the planner estimates.
        """
        return " AND ".join([unindexed(term.text) if term.by_gin else term.text for term in self.terms])


@dataclass(frozen=True, slots=True)
class ClauseTerm:
    """One term of an SQL condition on ``r``.

    :param by_gin: whether the term, or a part of it, may be in a form that a GIN index serves; true of every
        :class:`~app.query.predicate.conditions.Holds` of an array.
    :param finds_few: whether it is known that an index finds the resources that fulfil the term; they are assumed to be
        few.
    :param stretch: the stretch of an order that these resources form; None if no index has an order in which they
        are known to be adjacent.
    """

    text: LiteralString
    by_gin: bool
    finds_few: bool = False
    stretch: "Stretch | None" = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch: resources that are adjacent in the order of a field.

    :param text: the condition in a form that the index of the field serves; used if all conditions of the statement are
        stretches of this field.
    """

    field: Field
    text: LiteralString


def compile_condition(condition: Condition, projection: Projection, prefix: LiteralString = "where") -> Clause:
    """Compile a condition on a projection. Its parameters are called ``{prefix}_0``, ``{prefix}_1`` and so on."""
    compiler = _Compiler(projection, prefix)
    return Clause(tuple([compiler.conjunct(each) for each in _conjuncts_of(condition)]), compiler.parameters)


def _has_value(document: Any) -> bool:
    """Whether a document has any scalar value. The GIN index has no entries for empty arrays and objects."""
    if isinstance(document, dict | list):
        return any(map(_has_value, document.values() if isinstance(document, dict) else document))
    return True


def _is_served(use: Index, atom: Holds, projection: Projection) -> bool:
    """Whether the index of the compared field serves a comparison for a use: ``VALUES``, to find few resources, or
    ``ORDER``, to read a stretch. Operator, field and each value must allow it; no negation is served."""
    is_allowed = use in atom.operator.indexed and use in atom.field.indexed_in(projection)
    return is_allowed and not atom.negated and all(map(atom.field.looked_up, atom.values))


def _contains_any_value(condition: Condition) -> TypeGuard[Holds]:
    """Whether a condition says that an array of scalars contains a given value, or at least one of several."""
    return (
        isinstance(condition, Holds)
        and condition.field.is_array
        and condition.operator.array is ArraySearch.CONTAINS_ANY
        and not condition.negated
    )


def _conjuncts_of(condition: Condition) -> list[Condition]:
    """The conditions that a condition joins by ``and``, without nesting. An ``or`` of a single condition, which
    a filter with one range has, counts as that condition."""
    if isinstance(condition, AllOf) or (isinstance(condition, AnyOf) and len(condition.conditions) == 1):
        return [term for inner in condition.conditions for term in _conjuncts_of(inner)]
    return [condition]


def hidden_from_planner(parameter: LiteralString, type_name: LiteralString) -> LiteralString:
    """A parameter in a subquery, so that the planner does not see its value.

    If the planner saw the value, it might estimate a plan for this value to be cheaper than a generic plan. Then it
    would plan each execution, and planning often takes longer than executing.
    """
    return f"(SELECT {parameter}::{type_name})"


def unindexed(condition: LiteralString) -> LiteralString:
    """An SQL condition in a form that no index serves. The planner estimates that half of the rows fulfil it."""
    return f"CASE WHEN {condition} THEN true ELSE false END"


@dataclass(slots=True)
class _Compiler:
    """Compiles one condition, and collects its parameters."""

    projection: Projection
    prefix: LiteralString
    parameters: dict[str, SqlParameter] = field(default_factory=dict[str, SqlParameter])

    def conjunct(self, condition: Condition) -> ClauseTerm:
        """Compile a condition that has to hold, with its stretch if the order of an index serves it."""
        term = self._term(condition)
        if isinstance(condition, Holds) and _is_served(Index.ORDER, condition, self.projection):
            # _term has just added the only value of the comparison as a parameter, the last one; the stretch uses it
            # again.
            value = placeholder(numbered(self.prefix, len(self.parameters) - 1))
            return replace(term, stretch=self._stretch(condition, value))
        return term

    def _stretch(self, atom: Holds, parameter: LiteralString) -> Stretch:
        """The stretch of a comparison that the order of an index serves. A page in this order then reads only this part
        of the index.

        :param parameter: the placeholder of the one value of the comparison, which is not negated.
        """
        of, template = atom.field, atom.operator.scalar
        if atom.operator is OPERATORS["="]:
            # With an equality the planner would drop the column from ORDER BY. Only the id would be left there, so the
            # planner might read the primary key.
            template = "{field} >= {value} AND {field} <= {value}"
        cast: LiteralString = "uuid" if of.kind is kinds.ID else of.kind.cast  # ids: only UUIDs are served
        value: LiteralString = f"{parameter}::{cast}"
        return Stretch(of, template.format(field=of.sorted_by.for_projection(self.projection), value=value))

    def _term(self, condition: Condition) -> ClauseTerm:
        """Compile a condition to SQL, with what the choice of lanes and plans needs to know: whether a GIN index may
        serve it, and whether an index is assumed to find few resources (see :class:`ClauseTerm`)."""
        match condition:
            case AllOf(conditions):
                terms = [self._term(inner) for inner in conditions]
                return _joined(" AND ", terms, finds_few=any(term.finds_few for term in terms))
            case AnyOf(conditions):
                return self._any(conditions)
            case Holds():
                text = _boolean(self._atom(condition), if_absent=condition.operator.absent, negated=condition.negated)
                finds_few = _is_served(Index.VALUES, condition, self.projection)
                return ClauseTerm(text, by_gin=condition.field.is_array, finds_few=finds_few)
            case HasElement():
                return self._has_element(condition)
            case Contains(document):
                return ClauseTerm(self._contains(document), by_gin=True, finds_few=_has_value(json.loads(document)))
            case _:
                assert_never(condition)

    def _any(self, conditions: Sequence[Condition]) -> ClauseTerm:
        """Compile a condition that holds if any of several does.

        If several of them say that an array of scalars contains a value, these become one jsonpath, so that one search
        of the index serves all of them.
        """
        containing = [inner for inner in conditions if _contains_any_value(inner)]
        terms: list[ClauseTerm] = []
        if len(containing) > 1:
            tests = [
                _any_value_test("{it} == {value}", f"@.{inner.field.name}[*]", inner.values) for inner in containing
            ]
            found = self._found_by(f"$ ? ({' || '.join(tests)})")
            terms.append(ClauseTerm(found, by_gin=True, finds_few=True))  # the GIN index has the values of all arrays
            conditions = [inner for inner in conditions if not _contains_any_value(inner)]
        terms += [self._term(inner) for inner in conditions]
        return _joined(" OR ", terms, finds_few=all(term.finds_few for term in terms))

    def _parameter(self, value: SqlParameter) -> LiteralString:
        """Add a value to the parameters of the clause, and return its placeholder."""
        name = numbered(self.prefix, len(self.parameters))
        self.parameters[name] = value
        return placeholder(name)

    # Atoms

    def _atom(self, atom: Holds) -> LiteralString:
        """The SQL of a comparison without its negation. For an absent field it may be NULL."""
        if atom.field.is_array:
            return self._array(atom)
        if atom.field.kind is kinds.ID and atom.values:  # not of "is defined"
            return self._id(atom)
        column = atom.field.column.for_projection(self.projection)
        beginning = atom.field.beginning
        if beginning is None:
            return self._scalar(atom, column, atom.values)
        return self._some_property(atom, column, beginning.for_projection(self.projection))

    def _some_property(self, atom: Holds, column: LiteralString, beginning: LiteralString) -> LiteralString:
        """The SQL that compares someProperty. Its index, which only :attr:`Projection.CURRENT` has, contains the
        beginnings of the texts."""
        if any(_is_served(index, atom, self.projection) for index in Index):
            # An index serves only values shorter than a beginning (looked_up). Comparing the beginning with such a
            # value gives the same result as comparing the whole text.
            return self._scalar(atom, beginning, atom.values)
        text = self._scalar(atom, column, atom.values)
        if self.projection is Projection.STAGED or atom.negated or not atom.operator.is_equality:
            return text  # no index serves it
        # An equality with longer values: the index finds the texts with the same beginning, and the whole text decides.
        beginnings = [str(value)[:BEGINNING_LENGTH] for value in atom.values]
        return f"({self._scalar(atom, beginning, beginnings)} AND {text})"

    def _scalar(
        self, atom: Holds, column: LiteralString, values: Sequence[Value], cast: LiteralString = ""
    ) -> LiteralString:
        """The SQL of a comparison (``atom``) on a column of one value: its operator's template, with these operands.

        :param column: the column of the compared field, or another form of it: the beginning of a text, the text of an
            id.
        :param values: the compared values, in the form of ``column``.
        :param cast: the SQL type of the values; by default that of the field's kind.
        """
        value = self._operand(atom, cast or atom.field.kind.cast, values)
        return atom.operator.scalar.format(field=column, value=value)

    def _operand(self, atom: Holds, cast: LiteralString, values: Sequence[Value]) -> LiteralString:
        """The SQL of a comparison's values as a parameter; empty for an operator without operands."""
        if not values:
            return ""
        if atom.operator.arity is Arity.LIST:
            return f"{self._parameter([parameter_of(value) for value in values])}::{cast}[]"
        return f"{self._parameter(parameter_of(values[0]))}::{cast}"

    def _id(self, atom: Holds) -> LiteralString:
        """The SQL that compares the id. A value is a UUID, which the primary key serves, or any other text, which is
        compared with the id's text. Both ways order ids alike."""
        column = atom.field.column.for_projection(self.projection)
        ids = [value for value in atom.values if isinstance(value, UUID)]
        if atom.operator.is_equality and not ids:  # = and in: no id equals a value that is not a UUID
            return "false"
        if ids and not atom.operator.of_texts:
            return self._scalar(atom, column, ids, "uuid")
        # ``matches ignore case``, or ``<`` and its like with another text.
        return self._scalar(atom, atom.field.text, [str(value) for value in atom.values])

    # Arrays

    def _array(self, atom: Holds) -> LiteralString:
        """The SQL of a comparison with an array of scalars, or of ``is empty`` and ``is defined`` of any array."""
        name, values = atom.field.name, atom.values
        match atom.operator.array:
            case ArraySearch.CONTAINS_ANY if len(values) > 1:  # a jsonpath, which the index serves
                return self._found_by(f"$.{name}[*] ? ({_any_value_test('{it} == {value}', '@', values)})")
            case ArraySearch.CONTAINS_ANY | ArraySearch.CONTAINS_ALL:  # any of a single value, or all of the values
                return self._contains(_document(name, values))
            case ArraySearch.HAS_ITEM:  # < and the like, which no index serves
                return self._exists(f"$.{name}[*] ? ({_any_value_test(atom.operator.member, '@', values)})")
            case template:  # the operator's own SQL
                operand = self._operand(atom, atom.field.kind.cast, values)
                return template.format(field=atom.field.column.for_projection(self.projection), value=operand)

    # Documents

    def _contains(self, document: str) -> LiteralString:
        """The SQL condition that the ObjectType contains a document."""
        return CONTAINS.for_projection(self.projection).format(hidden_from_planner(self._parameter(document), "jsonb"))

    def _found_by(self, path: str) -> LiteralString:
        """The SQL condition that a jsonpath finds something in the ObjectType, in the form that the GIN index
        serves."""
        return FOUND_BY.for_projection(self.projection).format(hidden_from_planner(self._parameter(path), "jsonpath"))

    def _has_element(self, condition: HasElement) -> ClauseTerm:
        """The condition that an array has an element which fulfils a condition, or that it has none."""
        test, finds_few = self._element_test(condition.condition)
        path = f"$.{condition.field.name}[*] ? ({test})"
        # The index serves only a test that demands a value and is not negated. Any other is in a form without an index.
        finds_few = finds_few and not condition.negated
        text = self._found_by(path) if finds_few else self._exists(path)
        text = _boolean(text, if_absent=False, negated=condition.negated)
        return ClauseTerm(text, by_gin=finds_few, finds_few=finds_few)

    def _element_test(self, condition: Condition) -> tuple[str, bool]:
        """The test of one element, and whether an index finds the elements that pass it. A condition on an array of
        scalars is about the element itself, and any other about a member of the element."""
        match condition:
            case AllOf(conditions):
                tests = [self._element_test(inner) for inner in conditions]
                return " && ".join([f"({test})" for test, _ in tests]), any(finds_few for _, finds_few in tests)
            case AnyOf(conditions):
                tests = [self._element_test(inner) for inner in conditions]
                return " || ".join([f"({test})" for test, _ in tests]), all(finds_few for _, finds_few in tests)
            case Holds(of, operator, values, negated):
                test = _any_value_test(operator.member, "@" if of.is_array else f"@.{of.name}", values)
                finds_few = _is_served(Index.VALUES, condition, self.projection)
                # Of an absent member a test is false and not unknown, so its negation is true.
                return f"!({test})" if negated else test, finds_few
            case _:
                raise AssertionError("elements contain no elements")

    def _exists(self, path: str) -> LiteralString:
        """The SQL condition that a jsonpath finds something, in a form that no index serves.

        It is for a jsonpath that demands no particular value, for which the GIN index would return every row, and for a
        condition that is negated as a whole, which no index serves. The planner estimates a function without looking at
        its arguments, so none has to be hidden from it.
        """
        return f"jsonb_path_exists({DOCUMENT.for_projection(self.projection)}, {self._parameter(path)}::jsonpath)"


def _boolean(text: LiteralString, *, if_absent: bool, negated: bool) -> LiteralString:
    """The SQL of the condition ``text``, or of its negation if ``negated``.

    ``text`` is NULL where a field is absent. NULL then counts as ``if_absent``, and ``negated`` negates what it counts
    as: the negation of an absent field that counts as false is true.

    With neither ``if_absent`` nor ``negated``, ``text`` stays as it is: where it is NULL it selects no row, just as
    false would.
    """
    if if_absent:
        return f"({text}) IS FALSE" if negated else f"({text}) IS NOT FALSE"
    return f"({text}) IS NOT TRUE" if negated else text


def _joined(by: LiteralString, terms: Sequence[ClauseTerm], *, finds_few: bool) -> ClauseTerm:
    """The term of terms that are joined by AND or OR. A single one keeps its text, without parentheses."""
    text = terms[0].text if len(terms) == 1 else f"({by.join([term.text for term in terms])})"
    return ClauseTerm(text, any(term.by_gin for term in terms), finds_few)


# Values. Numbers are passed as JSON texts, because PostgreSQL keeps 15 digits when it casts a double to numeric, and
# psycopg refuses a list of integers and doubles.

_BEYOND_DOUBLES = "1e400"
"""A JSON number that is greater than every number that can be stored. It stands for infinity, which JSON lacks."""


def number_text(number: int | float) -> str:
    """A number as JSON that PostgreSQL reads without loss; for an infinity a number beyond all that can be stored."""
    if isinf(number):
        return _BEYOND_DOUBLES if number > 0 else f"-{_BEYOND_DOUBLES}"
    return encode(number)


def parameter_of(value: Value) -> SqlParameter:
    """A value in the form in which psycopg passes it as a parameter."""
    return number_text(value) if isinstance(value, int | float) else value


def _json(value: Value) -> str:
    """A text or a number as JSON."""
    if isinstance(value, UUID | datetime):
        raise AssertionError("documents hold texts and numbers")
    return encode(value) if isinstance(value, str) else number_text(value)


def _document(name: str, values: Sequence[Value]) -> str:
    """The JSON text of a document with one array."""
    return f'{{"{name}":[{",".join(map(_json, values))}]}}'


# Conditions on elements, as jsonpath


def _any_value_test(template: str, path: str, values: Sequence[Value]) -> str:
    """The jsonpath ``test || test ...``, a test for each value, or a single one without values. ``template`` is such as
    :attr:`Operator.member`; ``path`` leads to what is tested, and stands for ``{it}``."""
    return " || ".join([template.format(it=path, value=_json(value)) for value in values]) or template.format(it=path)
