"""The filters that narrow results and facets of searches: the profile ``search``."""

from sample_resource_testkit.checks.finding import counted, expect_counts, expect_ids, facet, search
from sample_resource_testkit.checks.names import INTEGERS, TEXTS
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import Made, World


def three(world: World) -> tuple[str, list[Made]]:
    """Make three resources with the numbers 1, 1 and 2, and 3. Return the word that all of them have, and the
    resources."""
    word = world.word()
    return word, [world.make({TEXTS: [word], INTEGERS: numbers}) for numbers in ([1], [1, 2], [3])]


@check("S-23", needs=["S-14"], cases={"a number": ("1", {1, 2}, 2), "another one": ("3", {3}, 1)})
def filter_query_narrows_results_and_facets(world: World, values: str, terms: set[int], results: int) -> None:
    word, _ = three(world)
    query = [("filter.query", f'{TEXTS}:"{word}"'), ("filter.query", f"{INTEGERS}:{values}"), ("facet", INTEGERS)]
    answer = search(world, *query).expect_status(200)
    answer.expect(len(answer.at("results")) == results, f"{results} results")
    if "facets" not in answer.members:
        return  # A server without facets: the clauses on facets say so.
    got = counted(answer, INTEGERS)
    answer.expect(set(got) == terms, f"only {sorted(terms)} to be counted", list(got))


@check("S-24", needs=["S-23", "S-30"], cases={INTEGERS: INTEGERS, "another field": "version"})
def filter_narrows_results_and_no_facets(world: World, path: str) -> None:
    word, made = three(world)
    world.update(made[1])
    condition, wanted = (f"{INTEGERS}:2", [made[1]]) if path == INTEGERS else ("version:1", [made[0], made[2]])
    query = [("filter.query", f'{TEXTS}:"{word}"'), ("filter", condition), ("facet", INTEGERS)]
    answer = search(world, *query).expect_status(200)
    expect_ids(answer, wanted, "what fulfils filter")
    expect_counts(answer, INTEGERS, {1: 2, 2: 1, 3: 1}, "counts that filter does not narrow")


OWN = {
    "terms": INTEGERS,
    "an alias": f"{INTEGERS} as {INTEGERS}",
    "with and without the object": f"objectTypeProperty.{INTEGERS}",
}


@check("S-25", needs=["S-23", "S-30"], cases=OWN)
def a_facet_is_not_narrowed_by_a_filter_on_its_field(world: World, expression: str) -> None:
    word, made = three(world)
    name = expression.partition(" ")[0]
    query = [("filter.query", f'{TEXTS}:"{word}"'), ("filter.facets", f"{INTEGERS}:1"), ("facet", expression)]
    answer = search(world, *query, ("facet", "version")).expect_status(200)
    expect_ids(answer, made, "results that filter.facets does not narrow")
    expect_counts(answer, name, {1: 2, 2: 1, 3: 1}, "counts that the filter on this field does not narrow")
    expect_counts(answer, "version", {1: 2}, "counts of what fulfils filter.facets")


@check("S-27", needs=["S-2", "S-30"], cases={"a word": "{0}", "two words": "{0} dog", "another case": "{1}"})
def a_text_narrows_facets(world: World, form: str) -> None:
    word = world.word()
    for numbers in ([1], [1, 2]):
        world.make({TEXTS: [f"{word} dog"], INTEGERS: numbers})
    world.make({TEXTS: ["dog"], INTEGERS: [1, 3]})
    answer = facet(world, INTEGERS, ("text.en", form.format(word, word.upper())))
    expect_counts(answer, INTEGERS, {1: 2, 2: 1}, "counts of what matches the text")
