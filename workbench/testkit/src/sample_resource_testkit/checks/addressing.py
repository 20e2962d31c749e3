"""Addressing (2.1): project keys, path segments and their encoding, and URLs that the interface does not have."""

from collections.abc import Callable
from urllib.parse import unquote

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import Caller, Made, update_body
from sample_resource_testkit.checks.names import UNKNOWN_ID
from sample_resource_testkit.checks.refusals import errors_of, refused
from sample_resource_testkit.checks.steps import ids_in, keyed
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

WORDS = ("searchApiPattern", "sorted-query-parameters", "description-with-urn-links", "product-projection-search")


@check("2.1-1")
def what_was_made_is_below_its_project(world: World) -> None:
    made = world.make()
    answer = world.get(target=f"/{world.project}/resource/{made.id}").expect_status(200)
    answer.expect_json("version", made.version)


@check("2.1-1")
def what_was_made_is_at_the_same_path_of_no_other_project(world: World) -> None:
    second = world.second()
    made = world.make()
    answer = second.get(f"/{made.id}")
    answer.expect(not 200 <= answer.status < 300, "no success in another project", f"status {answer.status}")


@check(
    "2.1-2",
    cases={
        "65 characters": "k" * 65,
        "a dot": "a.b",
        "a blank": "a%20b",
        "a slash": "a%2Fb",
        "a line feed at the end": "ab%0A",
        "an umlaut": "k%C3%A4se",
    },
)
def any_other_first_segment_is_an_unknown_url(world: World, segment: str) -> None:
    refused(world.get(target=f"/{segment}/resource"), 404, "ResourceNotFound")


@check("2.1-3")
def the_list_of_a_project_that_was_never_used_is_empty(world: World) -> None:
    world.empty_project().get().expect_status(200).expect_json("results", [])


READS_ACROSS: dict[str, Callable[[Caller, Made, str], Answer]] = {
    "list": lambda caller, _made, word: caller.get("", query={"stringParameter": word}),
    "sorted list": lambda caller, made, _word: caller.get(
        "/sorted-query-parameters", query={"where": f'id = "{made.id}"'}
    ),
    "search": lambda caller, _made, word: caller.get("/searchApiPattern", query={"text.en": word}),
    "filter of a search": lambda caller, made, _word: caller.get(
        "/searchApiPattern", query={"filter.query": f'id:"{made.id}"'}
    ),
}


@check("2.1-4", cases=["id", "key"])
def no_read_of_one_shows_a_resource_of_another_project(world: World, way: str) -> None:
    second = world.second()
    made = keyed(world)
    path = f"/{made.id}" if way == "id" else f"/key={made.key}"
    if world.get(path).status != 200:
        world.not_reachable("the resource is not found in its own project either")
    second.get(path).expect_status(404)


@check("2.1-4", cases=READS_ACROSS)
def no_page_shows_or_counts_a_resource_of_another_project(
    world: World, read: Callable[[Caller, Made, str], Answer]
) -> None:
    second = world.second()
    word = world.word()
    made = world.make({"arrayOfStringExample": [word]})
    own = read(world, made, word)
    if own.status != 200 or made.id not in ids_in(own):
        world.skip("needs a request that finds the resource in its own project")
    other = read(second, made, word).expect_status(200)
    other.expect(made.id not in ids_in(other), "no result of another project", ids_in(other)).expect_json("total", 0)


WRITES_ACROSS: dict[str, Callable[[Caller, Made], Answer]] = {
    "POST on the id": lambda caller, made: caller.post(f"/{made.id}", update_body(made.version)),
    "DELETE": lambda caller, made: caller.delete(f"/{made.id}"),
    "POST of its id": lambda caller, made: caller.post("", {"id": made.id, "objectTypeProperty": {}}),
    "PUT of its id": lambda caller, made: caller.put("", {"id": made.id, "objectTypeProperty": {}}),
    "PATCH of its id": lambda caller, made: caller.patch(
        "", {"id": made.id, "version": made.version, "objectTypeProperty": {}}
    ),
}


@check("2.1-5", cases=WRITES_ACROSS)
def no_write_reaches_a_resource_of_another_project(world: World, write: Callable[[Caller, Made], Answer]) -> None:
    second = world.second()
    made = world.make({"arrayOfIntExample": [world.number()]})
    before = world.get(f"/{made.id}").expect_status(200).json
    refused(write(second, made), 404, "ResourceNotFound")
    world.get(f"/{made.id}").expect_status(200).expect_json(before)


def encoded(text: str) -> str:
    """An ASCII text with each character percent-encoded."""
    return "".join(f"%{ord(letter):02X}" for letter in text)


ENCODINGS: dict[str, Callable[[str], str]] = {"a hyphen": lambda text: text.replace("-", "%2D"), "all of it": encoded}


@check("2.1-6", needs=["4.3-1"], cases=ENCODINGS)
def a_key_may_be_percent_encoded(world: World, encode: Callable[[str], str]) -> None:
    made = keyed(world)
    world.get(f"/key={encode(made.key)}").expect_status(200).expect_json("id", made.id)


@check("2.1-6", needs=["4.2-1"])
def other_segments_may_be_percent_encoded_too(world: World) -> None:
    made = world.make()
    for target in (f"/{world.project}/%72esource/{made.id}", f"/{encoded(world.project)}/resource/{encoded(made.id)}"):
        world.get(target=target).expect_status(200).expect_json("version", made.version)


@check("2.1-7", needs=["4.3-1"], cases=["%3D", "%3d"])
def the_equals_sign_of_a_key_may_be_percent_encoded(world: World, sign: str) -> None:
    made = keyed(world)
    world.get(f"/key{sign}{made.key}").expect_status(200).expect_json("id", made.id)


@check("2.1-8", needs=["4.2-3"], cases=["a%2Fb", "a%2fb", "a%2F", "%2Fa", "a%2Fb%2Fc", "%2F"])
def an_encoded_slash_separates_nothing(world: World, segment: str) -> None:
    identifier = unquote(segment)
    answer = refused(world.get(f"/{segment}"), 404, "ResourceNotFound")
    messages = [str(entry.get("message")) for entry in errors_of(answer)]
    answer.expect(any(f"'{identifier}'" in text for text in messages), f"the id '{identifier}' in the message")


@check("2.1-9", cases=[f"{method} {word}" for word in (*WORDS, "key=none") for method in ("GET", "POST", "DELETE")])
def a_word_is_never_taken_for_an_id(world: World, case: str) -> None:
    method, word = case.split(" ")
    options = {"json": update_body(1)} if method == "POST" else {}
    # An id of equal length, so that answers about the two ids differ only in the id.
    identifier = "z" * len(word)
    as_an_id = world.send(method, f"/{identifier}", **options)
    answer = world.send(method, f"/{word}", **options)
    taken = (answer.status, answer.text.replace(word, identifier)) == (as_an_id.status, as_an_id.text)
    answer.expect(not taken, f"another answer than to {method} on the id {identifier}", answer.text)


@check(
    "H-16",
    cases=[
        "POST /searchApiPattern",
        "DELETE /key=my-key",
        "DELETE /sorted-query-parameters",
        "GET /product-projection-search",
        "GET /description-with-urn-links",
        "GET /artificially-complex/path/uri-parameter-one=a/b",
        f"PATCH /{UNKNOWN_ID}",
        "DELETE ",
        "TRACE ",
    ],
)
def methods_that_the_interface_lacks_are_not_allowed(world: World, case: str) -> None:
    method, path = case.split(" ")
    options = {"json": update_body(1)} if method in ("POST", "PUT", "PATCH") else {}
    refused(world.send(method, path, **options), 405, "MethodNotAllowed")


@check(
    "E-15",
    cases=[
        "/{p}",
        "/{p}/Resource",
        "/{p}/resource/a/b",
        "/{p}/resource/key=a/b",
        "/{p}/resource/artificially-complex/path/a/b",
        "//{p}/resource",
        "/{p}/resource/",
        "/{p}//resource/{id}",
        "/{p}/resource/{id}/",
    ],
)
def any_other_url_is_unknown(world: World, pattern: str) -> None:
    url = pattern.format(p=world.project, id=world.make().id)
    refused(world.get(target=url), 404, "ResourceNotFound")
