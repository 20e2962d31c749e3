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
        """The SQL condition for a query that may find the rows in any order. PostgreSQL may use any index for it, even
        a GIN index, which has no order. A query that reads the rows in the order of a B-tree index uses
        :attr:`text_without_gin` instead, or :attr:`Stretch.text` if it reads only a stretch."""
        return " AND ".join([term.text for term in self.terms])

    @property
    def text_without_gin(self) -> LiteralString:
        """The SQL condition for a query that reads the rows in the order of a page, and ends when the page is full.

        :func:`unindexed` wraps each term that a GIN index could serve. So no GIN index of documents or words can serve
        these terms, even if the planner would estimate that such an index is faster.
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
    """Whether the document of a :class:`Contains` has a scalar value at any depth. Only then can the GIN index find few
    resources: it has no entries for empty arrays and objects, so without a scalar every resource has to be checked."""
    if isinstance(document, dict | list):
        return any(map(_has_value, document.values() if isinstance(document, dict) else document))
    return True


def _is_served(use: Index, atom: Holds, projection: Projection) -> bool:
    """Whether the index of the compared field can serve a comparison for a purpose, ``use``. All of this must be true:

    - The operator allows this use of an index (``Operator.indexed``).
    - The index of the field allows this use in the projection (``Field.indexed_in``).
    - The index serves each compared value (``Field.looked_up``).
    - The comparison is not negated.

    :param use: the purpose. ``VALUES``: to find the resources with the compared values, which are assumed
        to be few. ``ORDER``: to read the resources that fulfil the comparison as one stretch of the index.
    """
    is_allowed = use in atom.operator.indexed and use in atom.field.indexed_in(projection)
    return is_allowed and not atom.negated and all(map(atom.field.looked_up, atom.values))


def _contains_one_of(condition: Condition) -> TypeGuard[Holds]:
    """Whether a condition says that an array of scalars contains a given value, or at least one of several.

    If an ``or`` has more than one such condition, :meth:`_Compiler._any` compiles all of them to one jsonpath.
    """
    return (
        isinstance(condition, Holds)
        and condition.field.is_array
        and condition.operator.array is ArraySearch.CONTAINS_ANY
        and not condition.negated
    )


def _conjuncts_of(condition: Condition) -> list[Condition]:
    """Split a condition into its conjuncts, including those of each nested ``and``. Any condition other than ``and``
    has one conjunct: itself. An ``or`` of a single condition is treated as that condition; a filter with one range is
    such an ``or``."""
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
    """An SQL condition in a form that no index serves. It is for a query that has to read rows in the order of a B-tree
    index: the planner then cannot choose a GIN index for the condition.

    The planner does not look into the CASE, so it always estimates that half of the rows fulfil the condition.
    """
    return f"CASE WHEN {condition} THEN true ELSE false END"


@dataclass(slots=True)
class _Compiler:
    """Compiles one condition, and collects its parameters."""

    projection: Projection
    prefix: LiteralString
    parameters: dict[str, SqlParameter] = field(default_factory=dict[str, SqlParameter])

    def conjunct(self, condition: Condition) -> ClauseTerm:
        """Compile one of the conditions that AND joins.

        The term has a :class:`Stretch` if the condition is a comparison that the order of an index serves: the
        resources that fulfil it are adjacent in this order. A page in this order can then read only this part of the
        index.
        """
        term = self._term(condition)
        if isinstance(condition, Holds) and _is_served(Index.ORDER, condition, self.projection):
            # Each operator with Index.ORDER takes one value. _term has just added this value, so it is the last
            # parameter. The stretch uses the same parameter.
            value = placeholder(numbered(self.prefix, len(self.parameters) - 1))
            return replace(term, stretch=self._stretch(condition, value))
        return term

    def _stretch(self, atom: Holds, parameter: LiteralString) -> Stretch:
        """The stretch of a comparison: the resources that fulfil it are adjacent in the index of the compared field. A
        page that is sorted by this field reads only this part of the index, if all conditions are stretches of this
        field.

        :param atom: a comparison, not negated, that the index serves for :attr:`Index.ORDER`.
        :param parameter: the placeholder of the one value of the comparison.
        """
        of, template = atom.field, atom.operator.scalar
        if atom.operator is OPERATORS["="]:
            # With an equality the planner would drop the column from ORDER BY, because it is constant. ORDER BY would
            # have only the id left, and the planner might read the primary key instead of the index of the field.
            template = "{field} >= {value} AND {field} <= {value}"
        # The cast of ids is text, for values that are not UUIDs. The index serves only UUIDs, so here the value is one.
        cast: LiteralString = "uuid" if of.kind is kinds.ID else of.kind.cast
        value: LiteralString = f"{parameter}::{cast}"
        return Stretch(of, template.format(field=of.sorted_by.for_projection(self.projection), value=value))

    def _term(self, condition: Condition) -> ClauseTerm:
        """Compile a condition to one SQL term. The term has two flags (:class:`ClauseTerm`):

        - ``by_gin``: a GIN index may serve the SQL. A query that reads rows in the order of a page should not use a GIN
          index. For such a query, :attr:`Clause.text_without_gin` wraps the term, so that no GIN index serves it.
        - ``finds_few``: an index is known to find the resources that fulfil the condition, and these are assumed to be
          few. A read with such a term may be in the fast lane (:mod:`app.database.admission`).
        """
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
        containing = [inner for inner in conditions if _contains_one_of(inner)]
        terms: list[ClauseTerm] = []
        if len(containing) > 1:
            tests = [
                _any_value_test("{it} == {value}", f"@.{inner.field.name}[*]", inner.values) for inner in containing
            ]
            found = self._found_by(f"$ ? ({' || '.join(tests)})")
            terms.append(ClauseTerm(found, by_gin=True, finds_few=True))  # the GIN index has the values of all arrays
            conditions = [inner for inner in conditions if not _contains_one_of(inner)]
        terms += [self._term(inner) for inner in conditions]
        return _joined(" OR ", terms, finds_few=all(term.finds_few for term in terms))

    def _parameter(self, value: SqlParameter) -> LiteralString:
        """Add a value to the parameters of the clause, and return its placeholder."""
        name = numbered(self.prefix, len(self.parameters))
        self.parameters[name] = value
        return placeholder(name)

    # Atoms

    def _atom(self, atom: Holds) -> LiteralString:
        """The SQL of a comparison without its negation, which :func:`_boolean` adds. The SQL may be NULL if a resource
        lacks the field. :func:`_boolean` replaces this NULL where it would give a wrong result."""
        if atom.field.is_array:
            return self._array(atom)
        if atom.field.kind is kinds.ID and atom.values:  # "is defined" has no values; _scalar compiles it
            return self._id(atom)
        column = atom.field.column.for_projection(self.projection)
        # SQL of the first characters of someProperty, which its index contains. None for every other field.
        beginning = atom.field.beginning
        if beginning is None:
            return self._scalar(atom, column, atom.values)
        return self._some_property(atom, column, beginning.for_projection(self.projection))

    def _some_property(self, atom: Holds, column: LiteralString, beginning: LiteralString) -> LiteralString:
        """The SQL of a comparison of someProperty. The index of someProperty contains only the beginning of each text,
        its first :data:`BEGINNING_LENGTH` characters, and only the current projection has it. So there are three cases:

        - The index serves the comparison, which implies that all values have fewer than :data:`BEGINNING_LENGTH`
          characters: the SQL compares the beginning.
        - ``=`` or ``in``, not negated, in the current projection, with a value of :data:`BEGINNING_LENGTH` characters
          or more: the SQL compares the beginning, which the index can serve, and the whole text.
        - Otherwise no index serves the comparison: the SQL compares the whole text.

        :param column: SQL of the whole text.
        :param beginning: SQL of the beginning of the text.
        """
        if any(_is_served(index, atom, self.projection) for index in Index):
            # For a value with fewer than BEGINNING_LENGTH characters (Field.looked_up), comparing the beginning of a
            # text gives the same result as comparing the whole text.
            return self._scalar(atom, beginning, atom.values)
        text = self._scalar(atom, column, atom.values)
        if self.projection is Projection.STAGED or atom.negated or not atom.operator.is_equality:
            return text
        # The index finds the texts with the same beginning, and the comparison of the whole text decides.
        beginnings = [str(value)[:BEGINNING_LENGTH] for value in atom.values]
        return f"({self._scalar(atom, beginning, beginnings)} AND {text})"

    def _scalar(
        self, atom: Holds, column: LiteralString, values: Sequence[Value], cast: LiteralString = ""
    ) -> LiteralString:
        """The SQL of a comparison: the operator's template, filled with ``column`` and ``values``. The compared field
        is not an array.

        :param atom: the comparison. Its operator and its field are used, but not its values.
        :param column: what is compared: SQL of the field itself, of the first characters of a text
            (:meth:`_some_property`), or of an id as text (:meth:`_id`).
        :param values: the values that ``column`` is compared with. The caller has already shortened or converted them
            in the same way as ``column``, and may have left out values that the field can never equal. An operator
            without operands has no values.
        :param cast: the SQL type of the values; by default that of the field's kind.
        """
        value = self._operand(atom, cast or atom.field.kind.cast, values)
        return atom.operator.scalar.format(field=column, value=value)

    def _operand(self, atom: Holds, cast: LiteralString, values: Sequence[Value]) -> LiteralString:
        """Add the values of a comparison to the parameters of the clause, and return the SQL for ``{value}`` in the
        operator's template: a placeholder with a cast, such as ``%(where_0)s::text``.

        If the operator takes a list, all values become one parameter, an array. If it takes no operand, nothing is
        added, and the SQL is empty.

        :param cast: the SQL type of one value.
        """
        if not values:
            return ""
        if atom.operator.arity is Arity.LIST:
            return f"{self._parameter([parameter_of(value) for value in values])}::{cast}[]"
        return f"{self._parameter(parameter_of(values[0]))}::{cast}"

    def _id(self, atom: Holds) -> LiteralString:
        """The SQL of a comparison of the id. Each value of the comparison is a UUID, or a text that is not a UUID.

        - ``=`` and ``in`` compare the id with the UUIDs. They ignore the other texts, because no id equals such a text.
          If there is no UUID, the SQL is ``false``.
        - ``<`` and its like have one value. A UUID is compared with the id, any other text with the text of the id.
          Both give the same order, because ids and their texts are ordered alike.
        - ``matches ignore case`` compares the text of the id with its value, even if the value is a UUID.

        The primary key can serve the comparisons of the id itself. No index serves those of its text.
        """
        column = atom.field.column.for_projection(self.projection)
        ids = [value for value in atom.values if isinstance(value, UUID)]
        if atom.operator.is_equality and not ids:  # no id equals a text that is not a UUID
            return "false"
        if ids and not atom.operator.of_texts:
            return self._scalar(atom, column, ids, "uuid")  # without the other texts that "in" may list
        # "matches ignore case", or "<" and its like with a text that is not a UUID.
        return self._scalar(atom, atom.field.text, [str(value) for value in atom.values])

    # Arrays

    def _array(self, atom: Holds) -> LiteralString:
        """The SQL of a comparison with an array of scalars, or of ``is empty`` and ``is defined`` of any array.

        The operator's ``array`` is either a way to search the array (:class:`ArraySearch`), or a template of SQL. The
        SQL of CONTAINS_ANY and CONTAINS_ALL is in a form that the GIN index serves. No index serves HAS_ITEM or a
        template.
        """
        name, values = atom.field.name, atom.values
        match atom.operator.array:
            case ArraySearch.CONTAINS_ANY if len(values) > 1:  # at least one of several values: a jsonpath
                return self._found_by(f"$.{name}[*] ? ({_any_value_test('{it} == {value}', '@', values)})")
            case ArraySearch.CONTAINS_ANY | ArraySearch.CONTAINS_ALL:  # one value, or all of several: containment
                return self._contains(_document(name, values))
            case ArraySearch.HAS_ITEM:  # < and the like: a jsonpath in a form that no index serves
                return self._exists(f"$.{name}[*] ? ({_any_value_test(atom.operator.member, '@', values)})")
            case sql:  # no ArraySearch, but the operator's own SQL
                operand = self._operand(atom, atom.field.kind.cast, values)
                return sql.format(field=atom.field.column.for_projection(self.projection), value=operand)

    # Documents

    def _contains(self, document: str) -> LiteralString:
        """The SQL condition that the ObjectType contains a document."""
        return CONTAINS.for_projection(self.projection).format(hidden_from_planner(self._parameter(document), "jsonb"))

    def _found_by(self, path: str) -> LiteralString:
        """The SQL condition that a jsonpath finds something in the ObjectType, in the form that the GIN index
        serves."""
        return FOUND_BY.for_projection(self.projection).format(hidden_from_planner(self._parameter(path), "jsonpath"))

    def _has_element(self, condition: HasElement) -> ClauseTerm:
        """Compile the condition that an element of an array fulfils a condition; if negated, that no element does."""
        test, finds_few = self._element_test(condition.condition)
        path = f"$.{condition.field.name}[*] ? ({test})"
        # The GIN index serves the condition if its test demands an equality with a value (finds_few), and if it is not
        # negated. Any other condition gets the form that no index serves (_exists).
        finds_few = finds_few and not condition.negated
        text = self._found_by(path) if finds_few else self._exists(path)
        text = _boolean(text, if_absent=False, negated=condition.negated)
        return ClauseTerm(text, by_gin=finds_few, finds_few=finds_few)

    def _element_test(self, condition: Condition) -> tuple[str, bool]:
        """The jsonpath filter that one element of an array has to pass, and whether the GIN index finds the resources
        with such an element.

        In jsonpath, ``@`` is the element. If the elements are objects, ``condition`` names members of theirs, and the
        filter tests these members, such as ``@.name``. If the elements are numbers or texts, ``condition`` names the
        array itself (see :class:`HasElement`), and the filter tests ``@``.
        """
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
                # If the element lacks the member, jsonpath makes the test false, not unknown. So "!" makes it true.
                return f"!({test})" if negated else test, finds_few
            case _:
                raise AssertionError("elements contain no elements")

    def _exists(self, path: str) -> LiteralString:
        """The SQL condition that a jsonpath finds something in the ObjectType, in a form that no index serves.

        Two kinds of conditions use this form. If the jsonpath does not demand an equality, the GIN index would return
        every row. If the condition is negated, no index can serve it.

        The jsonpath needs no :func:`hidden_from_planner`: the planner's estimate for a function does not depend on the
        values of its arguments.
        """
        return f"jsonb_path_exists({DOCUMENT.for_projection(self.projection)}, {self._parameter(path)}::jsonpath)"


def _boolean(text: LiteralString, *, if_absent: bool, negated: bool) -> LiteralString:
    """The SQL of a condition, or of its negation. The condition may be NULL if a field is absent. Then it counts as
    true or as false (``if_absent``), and its negation counts as the opposite.

    If a condition that is NULL counts as false, and there is no negation, the SQL is ``text`` alone, because NULL
    selects no row, as false does.

    :param text: SQL of the condition without the negation.
    :param if_absent: whether the condition, without the negation, counts as true if it is NULL.
    :param negated: whether to return the SQL of the negation.
    """
    if if_absent:
        return f"({text}) IS FALSE" if negated else f"({text}) IS NOT FALSE"
    return f"({text}) IS NOT TRUE" if negated else text


def _joined(by: LiteralString, terms: Sequence[ClauseTerm], *, finds_few: bool) -> ClauseTerm:
    """Join terms by AND or OR to one term, without a stretch. A single term keeps its text, without parentheses.

    :param finds_few: whether the joined term finds few resources. The caller computes it: for AND, one term that finds
        few is enough; for OR, every term has to find few.
    """
    text = terms[0].text if len(terms) == 1 else f"({by.join([term.text for term in terms])})"
    return ClauseTerm(text, any(term.by_gin for term in terms), finds_few)


# Values. Numbers are passed as JSON texts, because PostgreSQL keeps 15 digits when it casts a double to numeric, and
# psycopg refuses a list of integers and doubles.

_BEYOND_DOUBLES = "1e400"
"""A JSON number that is greater than every number that can be stored. It stands for infinity, which JSON lacks."""


def number_text(number: int | float) -> str:
    """A number as JSON text. PostgreSQL keeps all digits of the text: an int has all of its digits, and a double has as
    many as identify it. JSON has no infinity, so positive infinity becomes a number that is greater than every stored
    number, and negative infinity one that is less."""
    if isinf(number):
        return _BEYOND_DOUBLES if number > 0 else f"-{_BEYOND_DOUBLES}"
    return encode(number)


def parameter_of(value: Value) -> SqlParameter:
    """A value in the form in which psycopg passes it as a parameter."""
    return number_text(value) if isinstance(value, int | float) else value


def _json(value: Value) -> str:
    """The JSON of a value that is compared with values in the ObjectType, for a document or a jsonpath.

    The ObjectType has only texts and numbers to compare with. Ids and times are compared as columns, so the value is no
    UUID and no datetime.
    """
    if isinstance(value, UUID | datetime):
        raise AssertionError("documents hold texts and numbers")
    return encode(value) if isinstance(value, str) else number_text(value)


def _document(name: str, values: Sequence[Value]) -> str:
    """The JSON text of a document with one array."""
    return f'{{"{name}":[{",".join(map(_json, values))}]}}'


# Conditions on elements, as jsonpath


def _any_value_test(template: str, path: str, values: Sequence[Value]) -> str:
    """The jsonpath ``test || test ...``, with one test for each value: it holds if any test does. If there are no
    values, because the operator has no operand, the template has no ``{value}`` and is the only test.

    :param template: a test as jsonpath with ``{it}`` and at most one ``{value}``, such as :attr:`Operator.member`.
    :param path: the jsonpath to what is tested, which replaces ``{it}``.
    """
    return " || ".join([template.format(it=path, value=_json(value)) for value in values]) or template.format(it=path)
