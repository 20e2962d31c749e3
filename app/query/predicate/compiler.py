"""Compiles a resolved condition to SQL. Values are parameters; the text consists of the tables' literal strings alone.

An atom that has to hold is a bare comparison, which an index can serve. One that is negated, or that holds for an
absent field, decides explicitly what NULL becomes. Equality with elements of arrays is containment of a document, which
the GIN index serves; what containment cannot express is a jsonpath, which is a parameter as its variables are.

Each condition has two texts, for the two ways in which :mod:`app.resource.reading.listing` finds a page. They differ
only in what keeps the planner from using the GIN indexes, so they are made together and share their parameters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product
from math import isinf
from typing import LiteralString, assert_never
from uuid import UUID

from app.errors import unreachable
from app.query.fields import CONTAINS, DOCUMENT, Field, FieldType, Stage
from app.query.predicate.ast import AllOf, AnyOf, Condition, HasElement, Holds, Value
from app.query.predicate.operators import Arity, ArraySearch
from app.query.sql_text import numbered, placeholder
from app.values.strict_json import encode

SqlParameter = str | UUID | datetime | list["SqlParameter"]

_ALTERNATIVES_AT_MOST = 64
"""Documents that replace one condition on elements; a condition with more alternatives is a jsonpath alone."""

_WRITTEN_OUT_AT_MOST = 8
"""Documents that the text lists as alternatives, each with a parameter of its own; more are one array.

An array needs one text for any number of documents, and hundreds of alternatives would take long to plan. For a few
documents, though, the planner overestimates the cost of an array: it assumes ten elements, and a search of the index's
whole pending list for each.
"""

_RATHER_BY_INDEX: LiteralString = "CASE WHEN r.version > 0 THEN true ELSE word_stems(r.created_by) IS NULL END"
"""Always true, and cheap, since each version is above 0. The planner adds the COST of ``word_stems`` to every row that
a scan looks at.

It takes each project for 0.5 % of the table. So it expected a scan of the whole project to be cheaper than a few
searches of the GIN index: with 100,000 resources just loaded, nine rare documents took 0.7 s instead of 5 ms, 500 of
them 22 s instead of 0.1 s.
"""


@dataclass(frozen=True, slots=True)
class Texts:
    """The two texts of an SQL condition on ``r``.

    :param indexed: for a scan that looks for the rows that fulfil it.
    :param unindexed: for a scan in the order of a page, which soon meets enough of them: keeps the planner from looking
        up documents and words in their indexes, whatever it estimates.
    """

    indexed: LiteralString
    unindexed: LiteralString

    def each(self, change: Callable[[LiteralString], LiteralString]) -> "Texts":
        """Both, changed in the same way."""
        return Texts(change(self.indexed), change(self.unindexed))


@dataclass(frozen=True, slots=True)
class Clause(Texts):
    """An SQL condition on ``r`` and its parameters."""

    parameters: dict[str, SqlParameter]


def compile_condition(condition: Condition, stage: Stage, prefix: LiteralString = "where") -> Clause:
    """The SQL of a condition on a projection; its parameters are called ``{prefix}_0`` and so on."""
    compiler = _Compiler(stage, prefix)
    texts = compiler.condition(condition)
    return Clause(texts.indexed, texts.unindexed, compiler.parameters)


def compile_containment(documents: Sequence[str], stage: Stage, prefix: LiteralString) -> Clause:
    """Whether the ObjectType of a projection contains at least one of the documents, which are JSON texts."""
    compiler = _Compiler(stage, prefix)
    texts = compiler.containment(documents)
    return Clause(texts.indexed, texts.unindexed, compiler.parameters)


def opaque(parameter: LiteralString, type_name: LiteralString) -> LiteralString:
    """A parameter whose value the planner does not see, since it stands in a subquery.

    If it saw the value, it would estimate a plan for this value as cheaper than a generic one, although there are no
    statistics on the contents of documents, and plan each execution anew. Planning takes longer than executing.
    """
    return f"(SELECT {parameter}::{type_name})"


def unindexed(condition: LiteralString) -> LiteralString:
    """The same condition in a form that no index serves; the planner expects half of the rows to fulfil it."""
    return f"CASE WHEN {condition} THEN true ELSE false END"


CASTS: dict[FieldType, LiteralString] = {
    FieldType.ID: "text",
    FieldType.TEXT: "text",
    FieldType.NUMBER: "numeric",
    FieldType.TIME: "timestamptz",
    FieldType.TEXTS: "text",
    FieldType.NUMBERS: "numeric",
}
"""The SQL types that values are compared as; for arrays the types of their elements."""


def _same(text: LiteralString) -> Texts:
    """A condition that no GIN index would serve in either form."""
    return Texts(text, text)


_FALSE = _same("false")


@dataclass(slots=True)
class _Compiler:
    """Compiles one condition and collects its parameters."""

    stage: Stage
    prefix: LiteralString
    parameters: dict[str, SqlParameter] = field(default_factory=dict[str, SqlParameter])

    def condition(self, condition: Condition) -> Texts:
        match condition:
            case AllOf(conditions):
                return _joined(" AND ", [self.condition(inner) for inner in conditions])
            case AnyOf(conditions):
                return _joined(" OR ", [self.condition(inner) for inner in conditions])
            case Holds():
                return _two_valued(self._atom(condition), absent=condition.operator.absent, negated=condition.negated)
            case HasElement():
                return _two_valued(self._element(condition), absent=False, negated=condition.negated)
            case _:
                assert_never(condition)

    def _parameter(self, value: SqlParameter) -> LiteralString:
        name = numbered(self.prefix, len(self.parameters))
        self.parameters[name] = value
        return placeholder(name)

    # Atoms

    def _atom(self, atom: Holds) -> Texts:
        if atom.field.type in (FieldType.TEXTS, FieldType.NUMBERS, FieldType.OBJECTS):
            return self._array(atom)
        if atom.field.type is FieldType.ID and atom.values:
            return self._id(atom)
        return self._scalar(atom, self._column(atom.field), CASTS.get(atom.field.type, "text"), atom.values)

    def _scalar(self, atom: Holds, column: LiteralString, cast: LiteralString, values: Sequence[Value]) -> Texts:
        return _same(atom.operator.scalar.format(field=column, value=self._operand(atom, cast, values)))

    def _operand(self, atom: Holds, cast: LiteralString, values: Sequence[Value]) -> LiteralString:
        """The values as a parameter, which templates of operators without operands do not have."""
        if not values:
            return ""
        if atom.operator.arity is Arity.LIST:
            return f"{self._parameter([parameter_of(value) for value in values])}::{cast}[]"
        return f"{self._parameter(parameter_of(values[0]))}::{cast}"

    def _id(self, atom: Holds) -> Texts:
        """A comparison of the id as UUID if possible: UUIDs sort as their texts do, and the primary key serves it."""
        ids = [value for value in atom.values if isinstance(value, UUID)]
        if atom.operator.equality:
            # No id equals a text that is not canonical.
            return self._scalar(atom, self._column(atom.field), "uuid", ids) if ids else _FALSE
        if ids and atom.operator.ordered:
            return self._scalar(atom, self._column(atom.field), "uuid", ids)
        if atom.field.text is None:
            unreachable("an id has a text")
        return self._scalar(atom, atom.field.text, "text", [str(value) for value in atom.values])

    def _column(self, of: Field) -> LiteralString:
        if of.column is None:
            unreachable("members of elements have no column")
        return of.column.for_stage(self.stage)

    # Arrays of scalars

    def _array(self, atom: Holds) -> Texts:
        if atom.operator.ordered:
            return self._ordered(atom)
        name, values = atom.field.name, atom.values
        match atom.operator.array:
            case ArraySearch.CONTAINS_ANY:
                return self.containment([_document(name, [_json(value)]) for value in values])
            case ArraySearch.CONTAINS_ALL:
                return self.containment([_document(name, [_json(value) for value in values])])
            case template:
                operand = self._operand(atom, CASTS.get(atom.field.type, "text"), values)
                return _same(template.format(field=self._column(atom.field), value=operand))

    def _ordered(self, atom: Holds) -> Texts:
        """Whether an array, or an array of objects in one of their members, has a value of an order or range."""
        if atom.field.values is None:
            unreachable("the values of every array have a column")
        values = atom.field.values.for_stage(self.stage)
        return _same(
            atom.operator.ordered.format(
                least=f"({values})[1]",
                greatest=f"({values})[cardinality({values})]",
                values=values,
                value=self._operand(atom, CASTS[atom.field.type], atom.values),
            )
        )

    def containment(self, documents: Sequence[str]) -> Texts:
        """Whether the document contains at least one of these."""
        contains = CONTAINS.for_stage(self.stage)
        if len(documents) > _WRITTEN_OUT_AT_MOST:
            # The second cast makes it an array for ANY; without it, ANY would take the rows of a subquery.
            text = contains.format(f"ANY ({opaque(self._parameter(list(documents)), 'jsonb[]')}::jsonb[])")
        else:
            text = _in_parentheses(
                " OR ", [contains.format(opaque(self._parameter(document), "jsonb")) for document in documents]
            )
        return Texts(text if len(documents) == 1 else f"({text} AND {_RATHER_BY_INDEX})", unindexed(text))

    def _path(self, path: str, variables: Sequence[str]) -> Texts:
        """Whether a jsonpath finds something; its variables, JSON texts, are called v0 and so on."""
        members = ",".join([f'"v{number}":{variable}' for number, variable in enumerate(variables)])
        sought, variables_json = self._parameter(path), self._parameter(f"{{{members}}}")
        document = DOCUMENT.for_stage(self.stage)
        return _same(f"jsonb_path_exists({document}, {sought}::jsonpath, {variables_json}::jsonb)")

    # Arrays of objects

    def _element(self, condition: HasElement) -> Texts:
        inner = condition.condition
        if isinstance(inner, Holds) and inner.operator.ordered and not inner.negated:
            return self._ordered(inner)
        name = condition.field.name
        candidates = _candidates(inner)
        texts: list[Texts] = []
        if candidates is not None and (candidates.exact or not condition.negated):
            if not candidates.elements:
                return _FALSE
            texts.append(self.containment([_document(name, [_object(element)]) for element in candidates.elements]))
        if candidates is None or not candidates.exact:
            variables: list[str] = []
            texts.append(self._path(f"$.{name}[*] ? ({_filter(inner, variables)})", variables))
        return _joined(" AND ", texts)


def _two_valued(texts: Texts, *, absent: bool, negated: bool) -> Texts:
    """A condition, or its negation, that is never NULL; one whose NULL selects nothing anyway stays bare."""
    if absent:
        return texts.each(lambda text: f"({text}) IS FALSE" if negated else f"({text}) IS NOT FALSE")
    return texts.each(lambda text: f"({text}) IS NOT TRUE") if negated else texts


def _joined(by: LiteralString, all_texts: Sequence[Texts]) -> Texts:
    return Texts(
        _in_parentheses(by, [texts.indexed for texts in all_texts]),
        _in_parentheses(by, [texts.unindexed for texts in all_texts]),
    )


def _in_parentheses(by: LiteralString, clauses: Sequence[LiteralString]) -> LiteralString:
    return clauses[0] if len(clauses) == 1 else f"({by.join(clauses)})"


# Values. Numbers are JSON texts, since a float has fewer digits than an integer or a numeric.

_BEYOND_DOUBLES = "1e400"
"""Greater than every number that can be stored. JSON has no infinity, but it can write this."""


def number_text(number: int | float) -> str:
    """A number as JSON that PostgreSQL reads without loss."""
    if isinf(number):
        return _BEYOND_DOUBLES if number > 0 else f"-{_BEYOND_DOUBLES}"
    return encode(number)


def parameter_of(value: Value) -> SqlParameter:
    """A value as a parameter of a statement."""
    return number_text(value) if isinstance(value, int | float) else value


def _json(value: Value) -> str:
    if isinstance(value, UUID | datetime):
        unreachable("documents hold texts and numbers")
    return encode(value) if isinstance(value, str) else number_text(value)


def _document(name: str, items: Sequence[str]) -> str:
    return f'{{"{name}":[{",".join(items)}]}}'


def _variable(atom: Holds) -> str:
    """The value of a jsonpath's variable: a list for operators that take one."""
    items = [_json(item) for item in atom.values]
    return f"[{','.join(items)}]" if atom.operator.arity is Arity.LIST else items[0]


def _object(members: Sequence[tuple[str, str]]) -> str:
    return "{" + ",".join([f'"{name}":{value}' for name, value in members]) + "}"


# Conditions on the elements of an array of objects

_Members = tuple[tuple[str, str], ...]
"""Names and values that an element must have."""


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Elements for which an array can be searched by containment.

    Wherever the condition holds, the array contains one of them; if ``exact``, the reverse is true too.
    """

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
    """Every combination, except those with two values for one name, which no element has."""
    merged: dict[_Members, None] = {}
    for one, other in product(some, others):
        members = dict(one)
        if all(members.setdefault(name, value) == value for name, value in other):
            merged[tuple(sorted(members.items()))] = None
    return tuple(merged)


def _filter(condition: Condition, variables: list[str]) -> str:
    """The condition as the filter of a jsonpath; appends its values to the variables."""
    match condition:
        case AllOf(conditions):
            return " && ".join([f"({_filter(inner, variables)})" for inner in conditions])
        case AnyOf(conditions):
            return " || ".join([f"({_filter(inner, variables)})" for inner in conditions])
        case Holds(operator=operator, negated=negated):
            value = f"$v{len(variables)}"
            if condition.values:
                variables.append(_variable(condition))
            test = operator.member.format(it=f"@.{condition.field.name}", value=value)
            return f"!({test})" if negated else test
        case _:
            return unreachable("elements have no arrays")
