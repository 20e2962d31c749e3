"""Texts, fuzzy words and the order of results: the profile ``search``."""

from itertools import permutations

from sample_resource_testkit.checks.finding import Fields, among, expect_ids, make, refused, search
from sample_resource_testkit.checks.names import TEXTS
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import Made, World


def expect_texts(world: World, searched: tuple[tuple[str, object], ...], wanted: list[Made], *made: Made) -> None:
    """Expect that a search among the given resources finds exactly the wanted ones."""
    answer = search(world, *searched, among(*made)).expect_status(200)
    expect_ids(answer, wanted, "what has the words")


PLACES: dict[str, Fields] = {
    "an array": {TEXTS: ["{word}"]},
    "between other words": {TEXTS: ["a house with {word} and more"]},
    "someProperty": {"someProperty": "{word}"},
}


def with_word(fields: Fields, word: str) -> Fields:
    """The fields with a word in place of ``{word}``."""
    return {
        name: value.replace("{word}", word)
        if isinstance(value, str)
        else [text.replace("{word}", word) for text in value]
        for name, value in fields.items()
    }


@check("S-1", cases=PLACES)
def a_text_looks_in_texts(world: World, fields: Fields) -> None:
    word = world.word()
    made = make(world, with_word(fields, word))
    answer = search(world, ("text.en", word)).expect_status(200)
    expect_ids(answer, [made], "a text to find what has its word")


@check("S-57", cases={"the word in NFD": ("café", "cafe\u0301"), "the text in NFD": ("cafe\u0301", "café")})
def words_are_compared_in_normal_form_c(world: World, sought: str, stored: str) -> None:
    made = world.make({TEXTS: [stored]})
    expect_texts(world, (("text.fr", sought),), [made], made)
    world.get(f"/{made.id}").expect_json("objectTypeProperty", TEXTS, [stored])


ORDERS = {"".join(map(str, order)): order for order in permutations(range(3))}


@check("S-2", cases=ORDERS)
def words_may_have_any_order(world: World, order: tuple[int, ...]) -> None:
    words = [world.word() for _ in range(3)]
    made = world.make({TEXTS: [" ".join(words)]})
    world.make({TEXTS: [" ".join(words[:2])]})
    text = " ".join(words[position] for position in order)
    expect_ids(search(world, ("text.en", text)).expect_status(200), [made], "what has all words")


LANGUAGES: dict[str, tuple[str, str]] = {
    "two languages": ("text.en", "text.de"),
    "a language and its country": ("text.en", "text.en-GB"),
}


@check("S-2", cases=LANGUAGES)
def several_texts_must_all_match(world: World, names: tuple[str, str]) -> None:
    one, other = world.word(), world.word()
    made = world.make({TEXTS: [f"{one} and {other}"]})
    world.make({TEXTS: [one]})
    world.make({TEXTS: [other]})
    answer = search(world, (names[0], one), (names[1], other)).expect_status(200)
    expect_ids(answer, [made], "what has the words of both texts")
    answer = search(world, (names[0], one), (names[1], world.word())).expect_status(200)
    expect_ids(answer, [], "nothing to have the words of both texts")


@check("S-8", needs=["S-2"], cases=["", " ", "\t", "\r\n"])
def a_blank_text_is_refused(world: World, text: str) -> None:
    refused(search(world, ("text.en", text)))


EDITS = {"replaced": "{0}{3}{2}", "added": "{0}{1}{3}{2}", "removed": "{0}{2}"}


@check("S-9", needs=["S-2"], cases=EDITS)
def a_fuzzy_word_finds_words_within_edits(world: World, edit: str) -> None:
    word = world.word()
    made = world.make({TEXTS: [f"some {word}"]})
    misspelt = edit.format(word[:7], word[7], word[8:], "y" if word[7] == "x" else "x")
    for parameters, found in (((), False), ((("fuzzy", False),), False), ((("fuzzy", True),), True)):
        answer = search(world, ("text.en", misspelt), *parameters).expect_status(200)
        expect_ids(answer, [made] if found else [], f"{word} to be found by {misspelt} only if fuzzy=true")


RANKED = ("dogs", "dog", "dots")
"""Words in the order of their relevance for ``dogs``: the word itself, another form of it, and a word that only
``fuzzy`` finds."""


@check("S-44", needs=["S-23", "S-5", "S-9"], cases={" ".join(order): order for order in permutations(RANKED)})
def exact_words_come_before_forms_and_forms_before_fuzzy_ones(world: World, order: tuple[str, ...]) -> None:
    made = {text: world.make({TEXTS: [text]}) for text in order}
    answer = search(world, ("text.en", "dogs"), ("fuzzy", True), among(*made.values())).expect_status(200)
    expect_ids(answer, [made[text] for text in RANKED], "dogs, then dog, then dots", ordered=True)


@check("S-44", needs=["S-23"], cases={"a text": True, "no text": False})
def equally_relevant_results_are_in_the_order_of_their_ids(world: World, with_text: bool) -> None:
    word = world.word()
    made = [world.make({TEXTS: [word]}) for _ in range(5)]
    for one in world.random.sample(made, 2):
        world.update(one)
    text = (("text.en", word),) if with_text else ()
    answer = search(world, *text, among(*made)).expect_status(200)
    expect_ids(answer, sorted(made, key=lambda one: one.id), "the order of the ids", ordered=True)


@check("S-44", needs=["S-23", "S-5", "S-9"], cases={"ascending": "key", "descending": "key desc"})
def sort_decides_instead_of_relevance(world: World, sort: str) -> None:
    made = [
        world.make({TEXTS: [text]}, key=f"{letter}-{world.word()}") for letter, text in zip("bca", RANKED, strict=True)
    ]
    answer = search(world, ("text.en", "dogs"), ("fuzzy", True), ("sort", sort), among(*made)).expect_status(200)
    wanted = sorted(made, key=lambda one: one.key, reverse=sort.endswith("desc"))
    expect_ids(answer, wanted, f"the order of {sort}", ordered=True)
