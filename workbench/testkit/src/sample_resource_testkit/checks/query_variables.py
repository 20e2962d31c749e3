"""Variables of ``where``: the profile ``query``."""

from sample_resource_testkit.checks.finding import Pairs, expect_found, refused, where
from sample_resource_testkit.checks.names import TEXTS
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World


@check("Q-31", cases=("a", "Z", "0", "name", "camelCase", "a1", "1a", "007", "in", "a" * 64))
def names_have_letters_and_digits(world: World, name: str) -> None:
    made = world.make()
    expect_found(world, f"key = :{name}", made, True, [(f"var.{name}", made.key)])


@check(
    "Q-37",
    needs=["Q-31"],
    cases={
        "after =": ("key = :name", "name", ()),
        "after in": ("key in :names", "names", ()),
        "in a list": ('key in ("a", :b)', "b", ()),
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
