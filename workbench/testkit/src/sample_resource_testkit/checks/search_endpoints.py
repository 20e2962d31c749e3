"""The search by query (4.4) and the search by form (4.14): the profile ``search``."""

from typing import Any

from sample_resource_testkit.answers import same
from sample_resource_testkit.checks.finding import (
    Fields,
    Searched,
    among,
    expect_ids,
    expect_page,
    make,
    refused,
)
from sample_resource_testkit.checks.names import (
    ALL_FIELDS,
    FORM_SEARCH,
    INTEGERS,
    SEARCH,
    TEXTS,
)
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import FORM, World


def expect_text_parameter(world: World, name: str) -> None:
    """Expect that a parameter is a text to search for: it finds the resource with its word, and no other."""
    word = world.word()
    made = world.make({TEXTS: [word]})
    for text, wanted in ((word, [made]), (world.word(), [])):
        answer = world.get(SEARCH, query=[(name, text)]).expect_status(200)
        expect_ids(answer, wanted, f"{name} to look for its word")


@check(
    "4.4-2",
    needs=["4.4-4"],
    cases=[
        f"text.{language}" for language in ("en", "de", "fr", "xx", "zz", "de-AT", "pt-BR", "en-GB", "xx-XX", "aa-ZZ")
    ],
)
def a_name_with_a_language_is_a_text(world: World, name: str) -> None:
    expect_text_parameter(world, name)


@check(
    "4.4-3",
    needs=["4.4-2"],
    cases=("text_en", "text en", "text1xx", "text\U0001f600en"),
)
def the_dot_of_the_name_is_any_character(world: World, name: str) -> None:
    expect_text_parameter(world, name)


@check(
    "4.4-4",
    cases={"without parameters": (), "with a text that nothing has": (("text.en", "nothinghasthisword"),)},
)
def a_search_answers_a_page(world: World, parameters: Searched) -> None:
    expect_page(world.get(SEARCH, query=parameters))


@check("4.4-5", needs=["4.4-4"], cases={"no fields": {}, "all fields": {**ALL_FIELDS, "someProperty": "a text"}})
def a_result_is_flat(world: World, fields: Fields) -> None:
    word = world.word()
    wanted = {**fields, TEXTS: [word]}
    made = make(world, wanted)
    answer = world.get(SEARCH, query=[("text.en", word)]).expect_status(200)
    expect_ids(answer, [made], "a text to find what has its word")
    result = answer.at("results", 0)
    known = {"id", "version", "key", "createdAt", "lastModifiedAt", "hasStagedChanges", *wanted}
    names = known if made.key else known - {"key"}
    answer.expect(result.keys() == names, f"a result with just {', '.join(sorted(names))}", sorted(result))
    for name, value in wanted.items():
        answer.expect_json("results", 0, name, value)
    for name in ("id", "version", "createdAt", "lastModifiedAt"):
        answer.expect_json("results", 0, name, made.body.get(name))


@check(
    "4.4-6",
    needs=["4.4-1"],
    cases={"3 for a long word": (3, "kennels"), "10 for a long word": (10, "kennels"), "3 for a short word": (3, "ox")},
)
def a_level_above_the_default_is_refused(world: World, level: int, text: str) -> None:
    for fuzzy in (True, False):
        world.get(SEARCH, query=[("fuzzy", fuzzy), ("fuzzyLevel", level), ("text.en", text)]).expect_status(400)


SCOPES = ("view_products", "view_published_products")


@check("4.14-1", cases={"a word": ("x",), "two words": ("x", "y"), "no word": ()})
def a_post_searches(world: World, words: tuple[str, ...]) -> None:
    text = " ".join([world.word(), *words])
    made = world.make({TEXTS: [text]})
    answer = world.post(FORM_SEARCH, form={"text.en": text}).expect_status(200)
    expect_ids(answer, [made], "a text to find what has its words").expect_json("total", 1)
    answer.expect_json("results", 0, TEXTS, [text]).expect_absent("results", 0, "objectTypeProperty")


SAME: dict[str, Searched] = {
    "everything of these": (),
    "a filter": (("filter", f"{INTEGERS}:2,3"),),
    "a text": (("text.en", "dogs"),),
    "a fuzzy text": (("text.en", "dig"), ("fuzzy", True)),
    "facets of all kinds": (
        *(("facet", f"{INTEGERS}:range(1 to 3) as r"), ("facet", f"{INTEGERS}:1,2 as f counting products")),
        ("facet", TEXTS),
    ),
    "narrowed facets": (("facet", TEXTS), ("filter.facets", f"{INTEGERS}:1"), ("filter", f"{INTEGERS}:3")),
    "the staged projection": (("staged", True), ("facet", INTEGERS)),
    "sorted": (("sort", "key desc"), ("limit", 2), ("offset", 1)),
    "without a total": (("withTotal", False), ("limit", "1")),
    "a broken filter": (("filter", "key:"),),
}


@check("4.14-3", needs=["4.4-4", "4.14-1", "S-23"], cases=SAME)
def both_searches_answer_the_same(world: World, parameters: Searched) -> None:
    made = [
        world.make({INTEGERS: [1, 2], TEXTS: ["dog", 'a & b=c;"+ 100%']}),
        world.make({INTEGERS: [2, 3], TEXTS: ["Vögel", "\U0001f600 é"]}),
        world.make({INTEGERS: [3], TEXTS: ["dogs"]}),
    ]
    query = [*parameters, among(*made)]
    by_query = world.get(SEARCH, query=query)
    by_form = world.post(FORM_SEARCH, form=query)
    by_form.expect_status(by_query.status)
    by_form.expect(same(by_form.json, by_query.json), "the body that 4.4 answers", by_form.json)


SINGLE = ("limit=1", "offset=0", "staged=false", "fuzzy=true", "fuzzyLevel=1", "withTotal=false")


@check("4.14-4", needs=["4.14-1"], cases=SINGLE)
def another_parameter_in_both_places_is_refused(world: World, parameter: str) -> None:
    refused(world.post(f"{FORM_SEARCH}?{parameter}", form=parameter))


IGNORED = (
    *("markMatchingVariants", "expand", "priceCurrency", "priceCountry", "priceCustomerGroup"),
    *("priceCustomerGroupAssignments", "priceChannel", "priceRecurrencePolicy", "localeProjection", "storeProjection"),
)


@check("4.14-5", needs=["4.14-1"], cases=IGNORED)
def a_name_of_the_platforms_search_is_ignored(world: World, name: str) -> None:
    word = world.word()
    made = world.make({TEXTS: [word]})
    answer = world.post(FORM_SEARCH, form=[("text.en", word), (name, "x"), (name, "x")], query=[(name, "x")])
    expect_ids(answer.expect_status(200), [made], "the name to make no difference")


@check("4.14-5", needs=["4.14-1"], cases=("colour", "where", "text.english", "limt", "filtr", "filter.", "var.a", "ä"))
def any_other_undeclared_name_is_refused(world: World, name: str) -> None:
    for places in ({"form": [(name, "x")]}, {"query": [(name, "x")]}):
        answer = refused(world.post(FORM_SEARCH, **places))
        answer.expect(name in answer.text, f"{name} in the message")


BODILESS: dict[str, dict[str, Any]] = {
    "no body": {},
    "no body but its type": {"headers": {"Content-Type": FORM}},
    "an empty form": {"form": ""},
}


@check("4.14-4", needs=["4.14-1"], cases=BODILESS)
def without_a_body_the_query_string_counts(world: World, options: dict[str, Any]) -> None:
    word = world.word()
    made = world.make({TEXTS: [word]})
    answer = world.post(FORM_SEARCH, query=[("text.en", word)], **options).expect_status(200)
    expect_ids(answer, [made], "a text in the query string to find what has its word")


@check(
    "A-12",
    needs=["4.14-1"],
    cases={f"{scope}, staged={staged}": (scope, staged) for scope in SCOPES for staged in ("true", "false")},
)
def either_scope_opens_either_projection(world: World, scope: str, staged: str) -> None:
    world.caller(scope).post(FORM_SEARCH, form=f"staged={staged}&limit=1").expect_status(200)
    world.caller(scope).post(FORM_SEARCH, query=f"staged={staged}&limit=1").expect_status(200)


@check(
    "H-17",
    needs=["4.14-1"],
    cases={
        "JSON": ("application/json", '{"limit": 1}'),
        "a text": ("text/plain", "limit=1"),
        "a form in parts": (
            "multipart/form-data; boundary=x",
            '--x\r\nContent-Disposition: form-data; name="limit"\r\n\r\n1\r\n--x--\r\n',
        ),
    },
)
def another_type_of_body_is_refused(world: World, content_type: str, body: str) -> None:
    answer = world.post(FORM_SEARCH, body=body, headers={"Content-Type": content_type}).expect_status(415)
    code = answer.at("errors", 0, "code")
    answer.expect(code == "UnsupportedMediaType", "the code UnsupportedMediaType", code)
