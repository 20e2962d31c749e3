"""Variables of ``where``: the profile ``query``."""

from types import MappingProxyType
from typing import NamedTuple

from sample_resource_testkit.checks.finding import Fields, Pairs, expect_found, expect_ids, fill, make, refused, where
from sample_resource_testkit.checks.names import FLOATS, INTEGERS, OBJECTS, TEXTS
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

NO_FIELDS: Fields = MappingProxyType({})


class Bound(NamedTuple):
    """A predicate with variables, their values, and whether it holds for a resource with these fields.

    :param values: may have the placeholders of a condition.
    """

    predicate: str
    values: tuple[tuple[str, str], ...]
    holds: bool
    fields: Fields = NO_FIELDS

    @property
    def name(self) -> str:
        """The case in words."""
        shown = "&".join(f"var.{name}={value}" for name, value in self.values)
        return f"{self.predicate} with {shown} {'holds' if self.holds else 'does not hold'}"


def named(*listed: Bound) -> dict[str, Bound]:
    """Cases with names."""
    return {one.name: one for one in listed}


def expect_bound(world: World, bound: Bound) -> None:
    """Make the resource of a case, and expect that the predicate finds it, or does not."""
    made = make(world, bound.fields)
    values: Pairs = [(f"var.{name}", fill(world, value, made)) for name, value in bound.values]
    expect_found(world, bound.predicate, made, bound.holds, values)


STRANGE = {"someProperty": 'a "b" \\ c\'; :x ($1) %41 +'}

ODD = {"someProperty": "ä日\U0001f600 é"}

TEXT = {"someProperty": "5"}


@check(
    "Q-31",
    needs=["Q-2"],
    cases=named(
        Bound("key = :name", (("name", "{key}"),), True),
        Bound("key = :name", (("name", "kit"),), False),
        Bound("key = :name", (("name", '"{key}"'),), False),
        Bound("id = :id and key = :key", (("id", "{id}"), ("key", "{key}")), True),
        Bound("id = :id and key = :key", (("key", "{id}"), ("id", "{key}")), False),
        Bound("key = :a or key = :a", (("a", "{key}"),), True),
        Bound("key=:a and version=1", (("a", "{key}"),), True),
        Bound("someProperty = :text", (("text", str(STRANGE["someProperty"])),), True, STRANGE),
        Bound("someProperty = :text", (("text", str(ODD["someProperty"])),), True, ODD),
        Bound("someProperty = :text", (("text", '" or version != "'),), False, TEXT),
        Bound("key = :text", (("text", ":text"),), False),
    ),
)
def a_variable_stands_for_its_value(world: World, bound: Bound) -> None:
    expect_bound(world, bound)


@check("Q-31", needs=["Q-2"])
def a_variable_stands_for_its_value_in_every_where(world: World) -> None:
    made = world.make()
    for listed, holds in (((made.key, made.id), True), (("none", made.id), False), ((made.key, "none"), False)):
        values = [("var.key", listed[0]), ("var.id", listed[1])]
        answer = where(world, "key = :key", "id = :id", parameters=values).expect_status(200)
        expect_ids(answer, [made] if holds else [], "both predicates to hold")


@check("Q-32", needs=["Q-31"], cases=("a", "Z", "0", "name", "camelCase", "a1", "1a", "007", "in", "a" * 64))
def names_have_letters_and_digits(world: World, name: str) -> None:
    made = world.make()
    expect_found(world, f"key = :{name}", made, True, [(f"var.{name}", made.key)])


@check(
    "Q-51",
    needs=["Q-31"],
    cases=(
        *("var.a-b", "var.", "var.a.b", "var.a_b", "var.ä", "var.a%20", "var.a%0A", "var", "var_a", "vara", "Var.a"),
        *("VAR.a", "xvar.a", "var.%C2%B2"),
    ),
)
def other_names_are_refused(world: World, name: str) -> None:
    refused(world.get(f"/sorted-query-parameters?{name}=x"))


LISTS = {INTEGERS: [1, 2], TEXTS: ["a", "b c"], "someProperty": "x"}


@check(
    "Q-33",
    needs=["Q-6", "Q-7", "Q-31"],
    cases=named(
        Bound("key in :keys", (("keys", "kit"), ("keys", "{key}")), True),
        Bound("key in :keys", (("keys", "{key}"), ("keys", "kit")), True),
        Bound("key in :keys", (("keys", "{key}"),), True),
        Bound("key in :keys", (("keys", "kit"), ("keys", "kit-")), False),
        Bound("key not in :keys", (("keys", "kit"), ("keys", "{key}")), False),
        Bound("key not in :keys", (("keys", "kit"), ("keys", "kit-")), True),
        Bound("key in :keys", (("keys", "kit,{key}"),), False),
        Bound(f"{INTEGERS} contains any :some", (("some", "2"), ("some", "9")), True, LISTS),
        Bound(f"{INTEGERS} contains any :some", (("some", "8"), ("some", "9")), False, LISTS),
        Bound(f"{INTEGERS} contains all :some", (("some", "2"), ("some", "1")), True, LISTS),
        Bound(f"{INTEGERS} contains all :some", (("some", "2"), ("some", "9")), False, LISTS),
        Bound(f"{TEXTS} contains all :some", (("some", "b c"), ("some", "a")), True, LISTS),
        Bound(f"{TEXTS} contains any :some", (("some", "b"), ("some", "c")), False, LISTS),
        Bound('key in (:a, "b")', (("a", "{key}"),), True),
        Bound('key in ("b", :a)', (("a", "{key}"),), True),
        Bound('key in (:a, "b", :c)', (("a", "a"), ("c", "{key}")), True),
        Bound('key in (:a, "b")', (("a", "kit"),), False),
        Bound(f"{INTEGERS} contains all (:a, 2)", (("a", "1"),), True, LISTS),
        Bound(f"{INTEGERS} contains all (:a, 2)", (("a", "3"),), False, LISTS),
        Bound("someProperty in :a and version in :b", (("a", "x"), ("b", "2"), ("a", "y"), ("b", "7")), True, LISTS),
    ),
)
def a_repeated_variable_is_a_list(world: World, bound: Bound) -> None:
    expect_bound(world, bound)


@check("Q-33", needs=["Q-6", "Q-7", "Q-31"])
def a_list_may_have_many_values(world: World) -> None:
    made = world.make()
    values = [("var.keys", f"kit-{number}") for number in range(100)]
    expect_found(world, "key in :keys", made, False, values)
    expect_found(world, "key in :keys", made, True, [*values, ("var.keys", made.key)])


NUMBERS_AND_TEXTS = {INTEGERS: [40], FLOATS: [-2.5], TEXTS: ["40", "1e1"], OBJECTS: [{"integerExample": 7}]}


@check(
    "Q-34",
    needs=["Q-31"],
    cases=named(
        Bound("version = :v", (("v", "1"),), True),
        Bound("version = :v", (("v", "1.0"),), True),
        Bound("version = :v", (("v", "10e-1"),), True),
        Bound("version < :v", (("v", "10"),), True),
        Bound("version > :v", (("v", "-1"),), True),
        Bound("version = :v", (("v", "2"),), False),
        Bound("version in (:v, 7)", (("v", "1"),), True),
        Bound(f"{INTEGERS} = :v", (("v", "4e1"),), True, NUMBERS_AND_TEXTS),
        Bound(f"{FLOATS} = :v", (("v", "-25e-1"),), True, NUMBERS_AND_TEXTS),
        Bound(f"{OBJECTS}(integerExample = :v)", (("v", "7.0"),), True, NUMBERS_AND_TEXTS),
        Bound(f"{TEXTS} = :v", (("v", "40"),), True, NUMBERS_AND_TEXTS),
        Bound(f"{TEXTS} = :v", (("v", "40.0"),), False, NUMBERS_AND_TEXTS),
        Bound(f"{TEXTS} = :v", (("v", "10"),), False, NUMBERS_AND_TEXTS),
        Bound(f"{INTEGERS} = :v and {TEXTS} = :v", (("v", "40"),), True, NUMBERS_AND_TEXTS),
        Bound("someProperty = :v", (("v", "5"),), True, TEXT),
        Bound("someProperty = :v", (("v", "5.0"),), False, TEXT),
        Bound("createdAt = :t", (("t", "{createdAt}"),), True),
        Bound("createdAt > :t", (("t", "2020-01-01T00:00:00+01:00"),), True),
        Bound("createdAt < :t", (("t", "9999-12-31T23:59:59.999+05:00"),), True),
        Bound("createdAt < :t", (("t", "2020-01-01T00:00:00Z"),), False),
    ),
)
def a_variable_has_the_type_of_its_field(world: World, bound: Bound) -> None:
    expect_bound(world, bound)


@check("Q-35", needs=["Q-1"], cases={"one": ["x"], "a list": ["x", "y"], "an empty text": [""]})
def an_unused_variable_is_ignored(world: World, values: list[str]) -> None:
    made = world.make()
    expect_found(world, "version = 1", made, True, [("var.unused", value) for value in values])


@check("Q-35")
def a_variable_without_a_predicate_is_ignored(world: World) -> None:
    world.get("/sorted-query-parameters", query={"limit": 1, "var.unused": "x"}).expect_status(200)


@check(
    "Q-36",
    needs=["Q-31"],
    cases=named(
        Bound("someProperty = :v", (("v", ""),), True, {"someProperty": ""}),
        Bound("someProperty = :v", (("v", ""),), False, {"someProperty": "x"}),
        Bound("someProperty = :v", (("v", ""),), False, {}),
        Bound("someProperty > :v", (("v", ""),), True, {"someProperty": "x"}),
        Bound(f"{TEXTS} = :v", (("v", ""),), True, {TEXTS: ["a", ""]}),
    ),
)
def an_empty_value_is_the_empty_text(world: World, bound: Bound) -> None:
    expect_bound(world, bound)


@check(
    "Q-37",
    needs=["Q-31"],
    cases={
        "after =": ("key = :name", "name", ()),
        "a name with digits": ("version < :v2", "v2", ()),
        "after in": ("key in :names", "names", ()),
        "in a list": ('key in ("a", :b)', "b", ()),
        "after contains": (f"{INTEGERS} contains all :some", "some", ()),
        "nested": (f"objectTypeProperty({INTEGERS} = :number)", "number", ()),
        "beside one that has a value": ("key = :a and id = :b", "b", (("var.a", "x"),)),
        "in another letter case": ("key = :Name", "Name", (("var.name", "x"),)),
    },
)
def a_variable_without_a_value_is_refused(world: World, predicate: str, name: str, values: Pairs) -> None:
    answer = where(world, predicate, parameters=values)
    refused(answer, begins=f"Malformed parameter: where: Missing parameter value for {name}")


@check(
    "Q-38",
    needs=["Q-33"],
    cases=(
        *("key = :v", "key != :v", "someProperty <> :v", "key < :v", "someProperty >= :v", f"{TEXTS} = :v"),
        *("someProperty matches ignore case :v", f"objectTypeProperty({TEXTS} = :v)"),
    ),
)
def several_values_where_one_is_needed_are_refused(world: World, predicate: str) -> None:
    where(world, predicate, parameters=[("var.v", "a")]).expect_status(200)
    refused(where(world, predicate, parameters=[("var.v", "a"), ("var.v", "b")]))
