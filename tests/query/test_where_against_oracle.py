"""The query language against an evaluator in Python: on random data, both find the same resources.

The evaluator uses none of the application's tables of fields and operators. It evaluates the tree that was generated
and not the one that was parsed, so that the parser is under test as well.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
from hypothesis import given, settings
from hypothesis import strategies as st

from app.query.fields import Projection
from app.query.language import Literal
from app.query.predicate.compiler import compile_condition
from app.query.predicate.operators import NEGATIONS, OPERATORS
from app.query.predicate.parser import And, Atom, Name, Nested, Not, Operand, Or, Parsed, Variable, parse
from app.query.predicate.resolver import read
from tests.support import oracle
from tests.support.generated import examples
from tests.support.oracle import connection as connection

# Predicates


def literals(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Literal]:
    return values.map(lambda value: Literal(value, 0))


OPERANDS = {
    "id": literals(st.sampled_from(oracle.ID_TEXTS)),
    "text": literals(oracle.texts),
    "number": literals(st.sampled_from(oracle.OPERAND_NUMBERS)),
    "time": literals(st.sampled_from(list(oracle.TIMES))),
}

COMPARISONS = ["=", "!=", "<>", "<", ">", "<=", ">="]
OF_LISTS = ["in", "not in"]
OF_LISTS_ON_ARRAYS = ["contains any", "contains all"]
ALONE = ["is defined", "is not defined"]
ALONE_ON_ARRAYS = ["is empty", "is not empty"]
ON_TEXTS = ["matches ignore case"]


def test_every_operator_is_generated() -> None:
    generated = [*COMPARISONS, *OF_LISTS, *OF_LISTS_ON_ARRAYS, *ALONE, *ALONE_ON_ARRAYS, *ON_TEXTS]
    assert sorted(generated) == sorted([*OPERATORS, *NEGATIONS]), "add it to one of these lists, and to atom_holds"


def atoms(name: str, of: str, *, array: bool = False) -> st.SearchStrategy[Atom]:
    field = Name(name, 0)
    one = st.tuples(OPERANDS[of])
    many = st.lists(OPERANDS[of], min_size=1, max_size=3).map(tuple)
    alternatives = [
        st.builds(Atom, st.just(field), st.sampled_from(COMPARISONS), one),
        st.builds(Atom, st.just(field), st.sampled_from(OF_LISTS), many),
        st.builds(Atom, st.just(field), st.sampled_from(ALONE), st.just(())),
    ]
    if array:
        alternatives += [
            st.builds(Atom, st.just(field), st.sampled_from(OF_LISTS_ON_ARRAYS), many),
            st.builds(Atom, st.just(field), st.sampled_from(ALONE_ON_ARRAYS), st.just(())),
        ]
    if of == "text":
        lettered = st.tuples(literals(st.sampled_from(oracle.TEXTS)))
        alternatives.append(st.builds(Atom, st.just(field), st.sampled_from(ON_TEXTS), lettered))
    return st.one_of(alternatives)


def combined(terms: st.SearchStrategy[Parsed]) -> st.SearchStrategy[Parsed]:
    return st.recursive(
        terms,
        lambda inner: st.one_of(
            st.builds(And, st.lists(inner, min_size=2, max_size=3).map(tuple)),
            st.builds(Or, st.lists(inner, min_size=2, max_size=3).map(tuple)),
            st.builds(Not, inner),
        ),
        max_leaves=6,
    )


def nested(name: str, terms: st.SearchStrategy[Parsed]) -> st.SearchStrategy[Nested]:
    return st.builds(Nested, st.just(Name(name, 0)), terms)


on_elements = combined(atoms("integerExample", "number") | atoms("integerExampleInt32", "number"))

on_object_type = st.one_of(
    atoms("arrayOfIntExample", "number", array=True),
    atoms("arrayOfNumberNoDefaultsExample", "number", array=True),
    atoms("arrayOfStringExample", "text", array=True),
    nested("arrayOfObjectType", on_elements),
    nested("arrayOfObjectType", on_elements),
    st.sampled_from(["is empty", "is not empty", "is defined"]).map(
        lambda operator: Atom(Name("arrayOfObjectType", 0), operator, ())
    ),
)

predicates: st.SearchStrategy[Parsed] = combined(
    st.one_of(
        atoms("id", "id"),
        atoms("key", "text"),
        atoms("version", "number"),
        atoms("createdAt", "time"),
        atoms("someProperty", "text"),
        nested("createdBy", combined(atoms("id", "text") | atoms("typeId", "text"))),
        nested("objectTypeProperty", combined(on_object_type)),
        on_object_type,
        on_object_type,
    )
)


def printed(term: Parsed) -> str:
    """A tree as text."""
    match term:
        case And(terms):
            return " and ".join([in_parentheses(inner) for inner in terms])
        case Or(terms):
            return " or ".join([in_parentheses(inner) for inner in terms])
        case Not(inner):
            return f"not({printed(inner)})"
        case Nested(name, inner):
            return f"{name.text}({printed(inner)})"
        case Atom(name, operator, operands):
            values = [printed_operand(operand) for operand in operands]
            listed = operator in OF_LISTS + OF_LISTS_ON_ARRAYS
            return f"{name.text} {operator} " + (f"({', '.join(values)})" if listed else "".join(values))


def in_parentheses(term: Parsed) -> str:
    return f"({printed(term)})" if isinstance(term, And | Or) else printed(term)


def printed_operand(operand: Literal | Variable) -> str:
    if isinstance(operand, Variable):
        return f":{operand.name}"
    if isinstance(operand.value, str):
        return '"' + operand.value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return oracle.printed_number(operand.value)


# The evaluator


def holds(term: Parsed, thing: dict[str, Any]) -> bool:
    match term:
        case And(terms):
            return all(holds(inner, thing) for inner in terms)
        case Or(terms):
            return any(holds(inner, thing) for inner in terms)
        case Not(inner):
            return not holds(inner, thing)
        case Nested(name, inner):
            value = value_of(name.text, thing)
            elements: list[Any] = value if isinstance(value, list) else [] if value is None else [value]
            return any(holds(inner, element) for element in elements)
        case Atom(name, operator, operands):
            values = [operand.value for operand in operands if isinstance(operand, Literal)]
            if name.text == "createdAt":
                values = [oracle.TIMES[str(value)] for value in values]
            return atom_holds(operator, value_of(name.text, thing), values)


def value_of(name: str, thing: dict[str, Any]) -> Any:
    return thing[name] if name in thing else thing.get("objectTypeProperty", {}).get(name)


def atom_holds(operator: str, value: Any, operands: list[Any]) -> bool:
    negated = {"!=": "=", "<>": "=", "not in": "in", "is not defined": "is defined", "is not empty": "is empty"}
    if operator in negated:
        return not atom_holds(negated[operator], value, operands)
    if operator == "is defined":
        return value is not None
    if operator == "is empty":
        return not value
    if value is None:
        return False
    elements = [oracle.comparable(item) for item in (value if isinstance(value, list) else [value])]
    wanted = [oracle.comparable(operand) for operand in operands]
    match operator:
        case "=" | "in" | "contains any":
            return any(element in wanted for element in elements)
        case "contains all":
            return all(operand in elements for operand in wanted)
        case "matches ignore case":
            return any(element.lower() == wanted[0].lower() for element in elements)
        case "<":
            return any(element < wanted[0] for element in elements)
        case ">":
            return any(element > wanted[0] for element in elements)
        case "<=":
            return any(element <= wanted[0] for element in elements)
        case _:
            assert operator == ">="
            return any(element >= wanted[0] for element in elements)


# SQL


def found(
    connection: psycopg.Connection[Any], text: str, projection: Projection, variables: dict[str, list[str]]
) -> list[str]:
    clause = compile_condition(read([text], variables), projection)
    statement = "SELECT r.id::text FROM resource r WHERE r.project_key = 'oracle' AND {} ORDER BY 1"
    looked_up, walked = (
        [row[0] for row in connection.execute(statement.format(form), clause.parameters)]
        for form in (clause.text, clause.text_without_gin)
    )
    assert looked_up == walked
    return looked_up


def expected(library: oracle.Library, projection: Projection, predicate: Parsed) -> list[str]:
    return [view["id"] for view in oracle.seen(library, projection) if holds(predicate, view)]


@settings(oracle.many, max_examples=examples(120))
@given(library=oracle.libraries, predicate=predicates, projection=st.sampled_from(Projection))
def test_sql_finds_what_python_finds(
    connection: psycopg.Connection[Any], library: oracle.Library, predicate: Parsed, projection: Projection
) -> None:
    with connection.transaction(force_rollback=True):
        oracle.store(connection, library)
        assert found(connection, printed(predicate), projection, {}) == expected(library, projection, predicate)
        negated = f"not({printed(predicate)})"
        assert found(connection, negated, projection, {}) == expected(library, projection, Not(predicate))


@settings(oracle.many, max_examples=examples(100))
@given(library=oracle.libraries, predicate=predicates)
def test_a_variable_means_what_its_literal_means(
    connection: psycopg.Connection[Any], library: oracle.Library, predicate: Parsed
) -> None:
    variables: dict[str, list[str]] = {}
    replaced = with_variables(predicate, variables)
    with connection.transaction(force_rollback=True):
        oracle.store(connection, library)
        assert found(connection, printed(replaced), Projection.CURRENT, variables) == expected(
            library, Projection.CURRENT, predicate
        )


def with_variables(term: Parsed, variables: dict[str, list[str]]) -> Parsed:
    """The tree with a variable in place of each literal."""

    def name_value(_: str, literal: Literal) -> Variable:
        name = f"v{len(variables)}"
        variables[name] = [literal.value if isinstance(literal.value, str) else oracle.printed_number(literal.value)]
        return Variable(name, 0)

    return with_operands(term, name_value)


def with_operands(term: Parsed, operand_for: Callable[[str, Literal], Operand]) -> Parsed:
    """The tree with another operand in place of each literal, made from its field's name and itself."""
    match term:
        case And(terms) | Or(terms):
            return type(term)(tuple(with_operands(inner, operand_for) for inner in terms))
        case Not(inner):
            return Not(with_operands(inner, operand_for))
        case Nested(name, inner):
            return Nested(name, with_operands(inner, operand_for))
        case Atom(name=name, operands=operands):
            literals = [operand for operand in operands if isinstance(operand, Literal)]
            return replace(term, operands=tuple(operand_for(name.text, literal) for literal in literals))


@settings(oracle.many, max_examples=examples(150))
@given(predicate=predicates)
def test_what_is_printed_is_parsed_to_the_same_tree(predicate: Parsed) -> None:
    assert parse(printed(predicate)) == predicate
    dense = re.sub(
        r'("(?:[^"\\]|\\.)*")|\s+(?=[^\w\s:-])|(?<=[^\w\s:"])\s+', r"\1", printed(predicate), flags=re.DOTALL
    )
    assert parse(dense) == predicate
    shouted = re.sub(
        r'("(?:[^"\\]|\\.)*")|\b(and|or|not|in|contains|any|all|is|defined|empty|matches|ignore|case)\b',
        lambda match: match.group(1) or match.group(2).upper(),
        printed(predicate),
        flags=re.DOTALL,
    )
    assert parse(shouted) == predicate


@settings(oracle.many, max_examples=examples(150))
@given(predicate=predicates, projection=st.sampled_from(Projection))
def test_operands_are_never_part_of_the_sql_text(predicate: Parsed, projection: Projection) -> None:
    def mark(field: str, literal: Literal) -> Literal:
        if field == "createdAt":
            return Literal("2017-03-04", 0)
        return Literal("zqjx" if isinstance(literal.value, str) else 918273, 0)

    marked = printed(with_operands(predicate, mark))
    clause = compile_condition(read([marked], {}), projection)
    for text in (clause.text, clause.text_without_gin):
        assert not [operand for operand in ("zqjx", "918273", "2017") if operand in text]
        assert set(re.findall(r"%\((\w+)\)s", text)) == set(clause.parameters)
