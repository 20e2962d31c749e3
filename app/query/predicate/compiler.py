"""A resolved condition to SQL. Values travel as parameters; the text is made of the tables' literal strings alone.

Atoms that are asked to hold stay as bare as an index wants them. One that is negated, or that holds of an absent field,
says what becomes of NULL. Equality with elements of arrays is containment of a document, which the GIN index serves;
what containment cannot say is a jsonpath, whose variables are a parameter like any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product
from math import isinf
from typing import LiteralString
from uuid import UUID

from app.errors import unreachable
from app.query.fields import CONTAINS, DOCUMENT, Field, Kind, Stage
from app.query.predicate.ast import AllOf, AnyOf, Condition, HasElement, Holds, Value
from app.query.predicate.operators import Arity, Search
from app.query.sql_text import numbered, placeholder
from app.values.strict_json import encode

Parameter = str | UUID | datetime | list["Parameter"]

_ALTERNATIVES_AT_MOST = 64
"""Documents that one condition on elements is turned into; beyond that the jsonpath alone decides."""

_WRITTEN_OUT_AT_MOST = 8
"""Documents that are alternatives in SQL too; more are an array.

One text serves all arrays, and hundreds of documents are planned at once. But for a few documents an array looks dearer
than it is, since the planner takes any array for ten, and looks up each in all entries that are still pending.
"""


@dataclass(frozen=True, slots=True)
class Clause:
    """An SQL condition on ``r`` and its parameters.

    :param indexed: for a scan that looks for what fulfils it.
    :param unindexed: the same for one in the order of a page, which soon meets enough: documents and words are not
        looked up in their indexes, whatever the planner expects of that.
    """

    indexed: LiteralString
    unindexed: LiteralString
    parameters: dict[str, Parameter]


def compile_condition(condition: Condition, stage: Stage, prefix: LiteralString = "where") -> Clause:
    """The SQL of a condition on a projection; its parameters are called ``where_0`` and so on."""
    compiler, unindexed = _Compiler(stage, prefix), _Compiler(stage, prefix, indexed=False)
    return Clause(compiler.condition(condition), unindexed.condition(condition), compiler.parameters)


def compile_containment(documents: Sequence[str], stage: Stage, prefix: LiteralString) -> Clause:
    """Whether the ObjectType of a projection contains one of several documents, JSON texts."""
    compiler = _Compiler(stage, prefix)
    containment = compiler.containment(documents)
    return Clause(containment, unindexed(containment), compiler.parameters)


def hidden(parameter: LiteralString, type_name: LiteralString) -> LiteralString:
    """A parameter in a subquery, where the planner does not look at its value.

    It would learn little, since there are no statistics of what documents contain. But it would take the plan for the
    value as cheaper than one for any, and make one for each, which takes longer than carrying it out.
    """
    return f"(SELECT {parameter}::{type_name})"


def unindexed(condition: LiteralString) -> LiteralString:
    """The same condition, which no index serves, and of which the planner expects that half the rows fulfil it."""
    return f"CASE WHEN {condition} THEN true ELSE false END"


CASTS: dict[Kind, LiteralString] = {
    Kind.ID: "text",
    Kind.TEXT: "text",
    Kind.NUMBER: "numeric",
    Kind.TIME: "timestamptz",
    Kind.TEXTS: "text",
    Kind.NUMBERS: "numeric",
}
"""The SQL types of values, or of the elements that they are compared with."""

_FALSE: LiteralString = "false"


@dataclass(slots=True)
class _Compiler:
    stage: Stage
    prefix: LiteralString
    indexed: bool = True
    parameters: dict[str, Parameter] = field(default_factory=dict[str, Parameter])

    def condition(self, condition: Condition) -> LiteralString:
        match condition:
            case AllOf(conditions):
                return self._joined(" AND ", conditions)
            case AnyOf(conditions):
                return self._joined(" OR ", conditions)
            case Holds():
                return _two_valued(self._atom(condition), absent=condition.operator.absent, negated=condition.negated)
            case HasElement():
                return _two_valued(self._element(condition), absent=False, negated=condition.negated)

    def _joined(self, by: LiteralString, conditions: Sequence[Condition]) -> LiteralString:
        return _in_parentheses(by, [self.condition(inner) for inner in conditions])

    def _parameter(self, value: Parameter) -> LiteralString:
        name = numbered(self.prefix, len(self.parameters))
        self.parameters[name] = value
        return placeholder(name)

    # Atoms

    def _atom(self, atom: Holds) -> LiteralString:
        if atom.field.kind in (Kind.TEXTS, Kind.NUMBERS, Kind.OBJECTS):
            return self._array(atom)
        if atom.field.kind is Kind.ID and atom.values:
            return self._id(atom)
        return self._scalar(atom, self._column(atom.field), CASTS.get(atom.field.kind, "text"), atom.values)

    def _scalar(
        self, atom: Holds, column: LiteralString, cast: LiteralString, values: Sequence[Value]
    ) -> LiteralString:
        template = atom.operator.scalar
        if not values:
            return template.format(field=column)
        if atom.operator.arity is Arity.LIST:
            value = f"{self._parameter([parameter_of(value) for value in values])}::{cast}[]"
        else:
            value = f"{self._parameter(parameter_of(values[0]))}::{cast}"
        return template.format(field=column, value=value)

    def _id(self, atom: Holds) -> LiteralString:
        """UUIDs and their canonical texts have the same order, so that the primary key serves either comparison."""
        ids = [value for value in atom.values if isinstance(value, UUID)]
        if atom.operator.equality:
            # Another text than a canonical one is the id of none.
            return self._scalar(atom, self._column(atom.field), "uuid", ids) if ids else _FALSE
        if ids and atom.operator.array is Search.ELEMENT:
            return self._scalar(atom, self._column(atom.field), "uuid", ids)
        if atom.field.text is None:
            unreachable("an id has a text")
        return self._scalar(atom, atom.field.text, "text", [str(value) for value in atom.values])

    def _column(self, of: Field) -> LiteralString:
        if of.column is None:
            unreachable("members of elements are compiled to jsonpath")
        return of.column.of(self.stage)

    # Arrays of scalars

    def _array(self, atom: Holds) -> LiteralString:
        name, values = atom.field.name, atom.values
        match atom.operator.array:
            case Search.CONTAINS_ANY:
                return self._contains_one_of([_document(name, [_json(value)]) for value in values])
            case Search.CONTAINS_ALL:
                return self._contains_one_of([_document(name, [_json(value) for value in values])])
            case Search.ELEMENT:
                test = atom.operator.member.format(it="@", value="$v0")
                return self._path(f"$.{name}[*] ? ({test})", [_operand(atom)])
            case template:
                column = self._column(atom.field)
                if not values:
                    return template.format(field=column)
                value = f"{self._parameter(parameter_of(values[0]))}::{CASTS[atom.field.kind]}"
                return template.format(field=column, value=value)

    def _contains_one_of(self, documents: Sequence[str]) -> LiteralString:
        containment = self.containment(documents)
        return containment if self.indexed else unindexed(containment)

    def containment(self, documents: Sequence[str]) -> LiteralString:
        """Whether the document contains one of several, which an index serves."""
        contains = CONTAINS.of(self.stage)
        if len(documents) > _WRITTEN_OUT_AT_MOST:
            # With the second cast it is an array; without it, the rows of a subquery.
            return contains.format(f"ANY ({hidden(self._parameter(list(documents)), 'jsonb[]')}::jsonb[])")
        return _in_parentheses(
            " OR ", [contains.format(hidden(self._parameter(document), "jsonb")) for document in documents]
        )

    def _path(self, path: str, variables: Sequence[str]) -> LiteralString:
        """Whether a jsonpath finds something; its variables, JSON texts, are called v0 and so on."""
        members = ",".join([f'"v{number}":{variable}' for number, variable in enumerate(variables)])
        sought, variables_json = self._parameter(path), self._parameter(f"{{{members}}}")
        return f"jsonb_path_exists({DOCUMENT.of(self.stage)}, {sought}::jsonpath, {variables_json}::jsonb)"

    # Arrays of objects

    def _element(self, condition: HasElement) -> LiteralString:
        name = condition.field.name
        candidates = _candidates(condition.condition)
        clauses: list[LiteralString] = []
        if candidates is not None and (candidates.exact or not condition.negated):
            if not candidates.elements:
                return _FALSE
            documents = [_document(name, [_object(element)]) for element in candidates.elements]
            clauses.append(self._contains_one_of(documents))
        if candidates is None or not candidates.exact:
            variables: list[str] = []
            clauses.append(self._path(f"$.{name}[*] ? ({_filter(condition.condition, variables)})", variables))
        return _in_parentheses(" AND ", clauses)


def _two_valued(clause: LiteralString, *, absent: bool, negated: bool) -> LiteralString:
    """The clause, or its negation, with NULL decided; where NULL would not be selected anyhow, the bare clause."""
    if absent:
        return f"({clause}) IS FALSE" if negated else f"({clause}) IS NOT FALSE"
    return f"({clause}) IS NOT TRUE" if negated else clause


def _in_parentheses(by: LiteralString, clauses: Sequence[LiteralString]) -> LiteralString:
    return clauses[0] if len(clauses) == 1 else f"({by.join(clauses)})"


# Values. Numbers are texts of JSON all the way, since a float would lose what an integer or a numeric keeps.

_BEYOND_DOUBLES = "1e400"
"""Compares with every number that can be stored as infinity does, and JSON can write it."""


def number_text(number: int | float) -> str:
    """A number as JSON that PostgreSQL reads without loss."""
    if isinf(number):
        return _BEYOND_DOUBLES if number > 0 else f"-{_BEYOND_DOUBLES}"
    return encode(number)


def parameter_of(value: Value) -> Parameter:
    """A value as a parameter of a statement."""
    return number_text(value) if isinstance(value, int | float) else value


def _json(value: Value) -> str:
    if isinstance(value, UUID | datetime):
        unreachable("documents hold texts and numbers")
    return encode(value) if isinstance(value, str) else number_text(value)


def _document(name: str, items: Sequence[str]) -> str:
    return f'{{"{name}":[{",".join(items)}]}}'


def _operand(atom: Holds) -> str:
    """The variable of a jsonpath: a list for operators that take one."""
    items = [_json(item) for item in atom.values]
    return f"[{','.join(items)}]" if atom.operator.arity is Arity.LIST else items[0]


def _object(members: Sequence[tuple[str, str]]) -> str:
    return "{" + ",".join([f'"{name}":{value}' for name, value in members]) + "}"


# Conditions on the elements of an array of objects

_Members = tuple[tuple[str, str], ...]
"""Names and values that an element must have."""


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Elements, one of which is contained wherever the condition holds; if exact, only there."""

    elements: tuple[_Members, ...]
    exact: bool


def _candidates(condition: Condition) -> _Candidates | None:
    match condition:
        case Holds(operator=operator, negated=False) if operator.equality:
            name = condition.field.name
            return _Candidates(tuple(((name, _json(value)),) for value in condition.values), exact=True)
        case AllOf(conditions):
            found = [_candidates(inner) for inner in conditions]
            exact = all(inner is not None and inner.exact for inner in found)
            combined: _Candidates | None = None
            for inner in found:
                if combined is None or inner is None:
                    combined = combined or inner
                elif len(combined.elements) * len(inner.elements) <= _ALTERNATIVES_AT_MOST:
                    combined = _Candidates(_merged(combined.elements, inner.elements), exact)
                else:
                    exact = False
            return None if combined is None else _Candidates(combined.elements, exact)
        case AnyOf(conditions):
            alternatives: list[_Members] = []
            exact = True
            for inner in conditions:
                candidates = _candidates(inner)
                if candidates is None:
                    return None
                alternatives += candidates.elements
                exact = exact and candidates.exact
            return _Candidates(tuple(alternatives), exact) if len(alternatives) <= _ALTERNATIVES_AT_MOST else None
        case _:
            return None


def _merged(some: Sequence[_Members], others: Sequence[_Members]) -> tuple[_Members, ...]:
    """Each with each, but for those that would need two values for one name."""
    merged: dict[_Members, None] = {}
    for one, other in product(some, others):
        members = dict(one)
        if all(members.setdefault(name, value) == value for name, value in other):
            merged[tuple(sorted(members.items()))] = None
    return tuple(merged)


def _filter(condition: Condition, variables: list[str]) -> str:
    """The condition as the filter of a jsonpath, its values appended to the variables."""
    match condition:
        case AllOf(conditions):
            return " && ".join([f"({_filter(inner, variables)})" for inner in conditions])
        case AnyOf(conditions):
            return " || ".join([f"({_filter(inner, variables)})" for inner in conditions])
        case Holds(operator=operator, negated=negated):
            value = f"$v{len(variables)}"
            if condition.values:
                variables.append(_operand(condition))
            test = operator.member.format(it=f"@.{condition.field.name}", value=value)
            return f"!({test})" if negated else test
        case _:
            return unreachable("elements have no arrays")
