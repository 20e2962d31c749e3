"""An operator, rule or node that is added by half is an error, and never a condition that all resources fulfil."""

import re
from importlib.resources import files
from typing import Any, cast

import pytest
from lark import Lark

from app.query.fields import Projection
from app.query.filters import parser as filters
from app.query.predicate import parser
from app.query.predicate.compiler import compile_condition
from app.query.predicate.conditions import Condition
from app.query.predicate.operators import NEGATIONS, OPERATORS
from app.query.predicate.parser import And, Parsed
from app.query.predicate.resolver import read
from tests.support.api import Api
from tests.support.predicates import ask
from tests.support.variants import PREDICATES


@pytest.mark.parametrize("language", [filters._LANGUAGE, parser._LANGUAGE])  # pyright: ignore[reportPrivateUsage]
def test_every_rule_of_a_grammar_has_a_method(language: Any) -> None:
    rules = {rule.alias or rule.origin.name for rule in language._lark.rules if rule.alias or not rule.options.expand1}
    operators = {token.replace(" ", "_") for token in (*OPERATORS, *NEGATIONS)}
    inlined = {name for name in rules if name.startswith("_")}
    assert [name for name in rules - operators - inlined if not hasattr(language._maker, name)] == []


def test_every_operator_of_the_grammar_has_a_row() -> None:
    grammar = files("app.query.predicate").joinpath("grammar.lark").read_text("utf-8")
    alternatives = re.findall(r"^ +\| field _.*-> (\w+)$", grammar, re.MULTILINE)
    signs = re.search(r"^COMPARISON: (.*)$", grammar, re.MULTILINE)
    assert signs is not None
    written = [name.replace("_", " ") for name in alternatives] + re.findall(r'"(.*?)"', signs.group(1))
    lacking = sorted({*OPERATORS, *NEGATIONS} - {*written})
    assert lacking == [], "?atom and the keywords in app/query/predicate/grammar.lark lack these"
    lacking = sorted({*written} - {*OPERATORS, *NEGATIONS})
    assert lacking == [], "_ROWS, or NEGATIONS, in app/query/predicate/operators.py lacks these"


def test_the_walk_sends_every_operator() -> None:
    walked = " ".join(f" {predicate} " for predicate in PREDICATES.values())
    lacking = [token for token in OPERATORS if f" {token} " not in walked]
    assert lacking == [], "PREDICATES in tests/support/variants.py lacks these, so no test of plans looks at their SQL"


def test_a_parsed_operator_without_a_method_is_an_error_over_http(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lark would make a tree of its own of it."""
    api.create({})
    unknown = Lark('start: "x"').parse("x")
    monkeypatch.setattr("app.query.predicate.resolver.parse", lambda *_: And((cast("Parsed", unknown),)))
    assert ask(api, "x").status_code == 500


def test_nodes_that_nobody_knows_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = object()
    with pytest.raises(AssertionError):
        compile_condition(cast("Condition", unknown), Projection.CURRENT)
    monkeypatch.setattr("app.query.predicate.resolver.parse", lambda *_: unknown)
    with pytest.raises(AssertionError):
        read(["x"], {})
