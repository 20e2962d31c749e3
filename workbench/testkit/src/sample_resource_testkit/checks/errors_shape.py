"""The body of errors: shape, codes and texts (profile ``errors``)."""

import re
from collections.abc import Callable
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import JSON, Caller
from sample_resource_testkit.checks.names import ANY, LINKS, SEARCH, SORTED, UNKNOWN_ID, complex_path
from sample_resource_testkit.checks.refusals import errors_of
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

Ask = Callable[[World], Answer]

AS_JSON = {"Content-Type": JSON}

OVERSIZED = 1 << 20
"""The bytes of a body that is larger than the platform accepts."""


def fields(**values: Any) -> dict[str, Any]:
    """The body of a write on the collection with some fields of ObjectType."""
    return {"objectTypeProperty": values}


def update(*actions: Any) -> Ask:
    """A function that sends an update by id with some actions, at the actual version."""

    def ask(world: World) -> Answer:
        made = world.make()
        return world.post(f"/{made.id}", {"version": made.version, "actions": list(actions)})

    return ask


def _conflict(world: World) -> Answer:
    made = world.make()
    return world.post(f"/{made.id}", {"version": made.version + 1, "actions": []})


def _precondition(world: World) -> Answer:
    made = world.make()
    return world.get(f"/{made.id}", headers={"If-Match": '"99"'})


def _duplicate(world: World) -> Answer:
    made, other = world.make(), world.make()
    return world.post("", {"id": other.id, "key": made.key, **ANY})


def too_long(caller: Caller) -> Answer:
    """Send a body that is larger than the platform accepts."""
    return caller.post("", body=b" " * OVERSIZED, headers=AS_JSON)


ERRORS: dict[str, Ask] = {
    "400 of a parameter": lambda world: world.get("?limit=x"),
    "400 of a predicate": lambda world: world.get(SORTED, query={"where": "(("}),
    "400 of a search": lambda world: world.get(SEARCH, query={"filter": "foo"}),
    "400 of a facet": lambda world: world.get(SEARCH, query={"facet": "foo"}),
    "400 of no JSON": lambda world: world.post("", body="{", headers=AS_JSON),
    "400 of an array": lambda world: world.post("", []),
    "400 of a type": lambda world: world.post("", fields(arrayOfIntExample=["a"])),
    "400 of a missing field": lambda world: world.post("", {}),
    "400 of a value": lambda world: world.post("", fields(arrayOfUniqueIntExample=[1, 1])),
    "400 of a duplicate": _duplicate,
    "400 of an action": update({"action": "foo"}),
    "400 of 4.9": lambda world: world.post(complex_path(), {"createdAt": "yesterday"}),
    "400 of 4.13": lambda world: world.post(LINKS, {"foo": 1}),
    "400 of the token endpoint": lambda world: world.oauth({"grant_type": "foo"}),
    "401 of the token endpoint": lambda world: world.oauth(authorization=None),
    "401 without a token": lambda world: world.nobody().get(""),
    "401 with a wrong one": lambda world: world.bearer("a.b.c").get(""),
    "403": lambda world: world.caller("view_products").get(""),
    "404 of an id": lambda world: world.get(f"/{UNKNOWN_ID}"),
    "404 of a URL": lambda world: world.get(target=f"/{world.project}"),
    "405": lambda world: world.delete(""),
    "409": _conflict,
    "412": _precondition,
    "413": too_long,
    "415": lambda world: world.post("", body="{}", headers={"Content-Type": "text/plain"}),
}
"""Requests that a correct server refuses, by the reason."""


def asked(world: World, name: str, *statuses: int) -> Answer:
    """Send a request of ``ERRORS``. The case is skipped if the answer has none of the statuses, because other clauses
    are about that.

    :param statuses: the statuses that the check is about; by default all from 400 on.
    """
    answer = ERRORS[name](world)
    if answer.status < 400 or (statuses and answer.status not in statuses):
        world.skip(
            f"needs an error of {' or '.join(map(str, statuses)) or '400 or more'}, and '{name}' is {answer.status}"
        )
    return answer


def refusal(world: World, answer: Answer) -> Answer:
    """Expect 400. The case is skipped if the server carries out the request, because other clauses are about that."""
    if answer.status < 400:
        world.skip(f"needs a server that refuses the request, and it was answered with {answer.status}")
    return answer.expect_status(400)


def expect_error_body(answer: Answer) -> None:
    """Expect the platform's error body, with consistent texts."""
    body = answer.json
    answer.expect(isinstance(body, dict), "a JSON object", body)
    answer.expect_json("statusCode", answer.status)
    entries = answer.at("errors")
    holds = isinstance(entries, list) and bool(entries) and all(_is_entry(entry) for entry in entries)
    answer.expect(holds, "errors with the texts code and message", entries)
    answer.expect_json("message", entries[0]["message"])


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in ("code", "message"))


@check("E-1", cases=list(ERRORS))
def an_error_has_the_platforms_body(world: World, name: str) -> None:
    answer = asked(world, name)
    expect_error_body(answer)
    if name in WITH_ERROR:
        answer.expect_json("error", answer.at("errors", 0, "code"))


WITH_ERROR = [name for name in ERRORS if name.startswith(("401", "403"))] + ["400 of the token endpoint"]


@check("E-32", needs=["E-1"], cases=WITH_ERROR)
def error_description_is_a_text(world: World, name: str) -> None:
    answer = asked(world, name, 400, 401, 403)
    text = answer.at("error_description")
    answer.expect(isinstance(text, str) and bool(text), "a text", text)
    if "token endpoint" in name or "without" in name:
        answer.expect_json("error_description", answer.at("errors", 0, "message"))
    if "wrong one" in name:
        answer.expect("malformed" in text, "malformed in error_description", text)


@check("E-32", needs=["E-1"])
def a_missing_scope_is_told_with_its_project_and_the_scopes_that_are_there(world: World) -> None:
    answer = asked(world, "403", 403)
    text = str(answer.at("error_description"))
    for named in (f"view_test:{world.project}", f"view_products:{world.project}"):
        answer.expect(named in text, f"{named} in error_description", text)


FROM_THE_FRONT: dict[str, Ask] = {
    "the root of a project": lambda world: world.get(target=f"/{world.project}"),
    "a page of HTML": lambda world: world.get(target="/foo.html", headers={"Accept": "text/html"}),
    "an unknown method": lambda world: world.send("BREW", ""),
    "a long target": lambda world: world.get("?foo=" + "a" * 9_000),
    "a large header": lambda world: world.get("", headers={"X-Foo": "a" * 9_000}),
}


@check("E-1", cases=list(FROM_THE_FRONT))
def what_no_endpoint_serves_has_the_body_of_errors_too(world: World, name: str) -> None:
    answer = FROM_THE_FRONT[name](world)
    if answer.status < 400:
        world.skip(f"needs an error, and '{name}' is {answer.status}")
    answer.expect_header("Content-Type", re.compile(r"application/json\b.*", re.IGNORECASE))
    expect_error_body(answer)


CODES_OF_400 = {
    "DuplicateField",
    "DuplicateFieldWithConflictingResource",
    "InternalConstraintViolated",
    "InvalidField",
    "InvalidInput",
    "InvalidJsonInput",
    "InvalidOperation",
    "LockedField",
    "ObjectNotFound",
    "ReferencedResourceNotFound",
    "RequiredField",
    "ResourceSizeLimitExceeded",
    "SearchExecutionFailure",
    "SearchFacetPathNotFound",
    "SemanticError",
    "SyntaxError",
}


CODES_OF_OAUTH = {"invalid_request", "invalid_scope", "unsupported_grant_type", "invalid_grant", "invalid_client"}


@check("E-4", cases=[name for name in ERRORS if name.startswith("400")])
def a_400_has_a_code_of_the_platform(world: World, name: str) -> None:
    answer = asked(world, name, 400)
    allowed = CODES_OF_OAUTH if "token endpoint" in name else CODES_OF_400
    codes = [entry.get("code") for entry in errors_of(answer)]
    answer.expect(bool(codes) and set(codes) <= allowed, f"codes among {', '.join(sorted(allowed))}", codes)


PARAMETERS: dict[str, tuple[str, str]] = {
    "limit": ("", "limit=x"),
    "sort": (SORTED, "sort=foo"),
    "where": (SORTED, "where=("),
    "integerParameter": ("", "integerParameter=1.5"),
    "objectParameter": ("", "objectParameter=5"),
    "staged": (SEARCH, "staged=maybe"),
    "fuzzyLevel": (SEARCH, "fuzzyLevel=-1"),
    "filter": (SEARCH, "filter=foo"),
    "text.en": (SEARCH, "text.en="),
    "limt": ("", "limt=5"),
}


@check("E-5", cases=list(PARAMETERS))
def a_fault_of_a_parameter_names_it(world: World, name: str) -> None:
    path, query = PARAMETERS[name]
    expect_malformed(world, world.get(path, query=query), name)


def expect_malformed(world: World, answer: Answer, name: str) -> None:
    """Expect 400 ``InvalidInput`` that begins with the name of a parameter or a header."""
    refusal(world, answer)
    begin = f"Malformed parameter: {name}: "
    texts = [str(entry.get("message")) for entry in errors_of(answer) if entry.get("code") == "InvalidInput"]
    answer.expect(any(text.startswith(begin) for text in texts), f"InvalidInput that begins '{begin}'", texts)


SENTENCE = "Request body does not contain valid JSON."

STRUCTURE: dict[str, Ask] = {
    "no JSON": ERRORS["400 of no JSON"],
    "nothing": lambda world: world.post("", body="", headers=AS_JSON),
    "an array": ERRORS["400 of an array"],
    "a wrong type": ERRORS["400 of a type"],
    "a missing field": ERRORS["400 of a missing field"],
    "an unknown field": lambda world: world.post("", {"foo": 1, **ANY}),
    "an unknown action": ERRORS["400 of an action"],
    "a missing version": lambda world: world.post(f"/{world.make().id}", {"actions": []}),
    "an unknown field of 4.9": lambda world: world.post(complex_path(), {"foo": 1}),
}


@check("E-6", cases=list(STRUCTURE))
def a_fault_of_structure_is_invalidjsoninput(world: World, name: str) -> None:
    answer = refusal(world, STRUCTURE[name](world))
    found = [entry for entry in errors_of(answer) if entry.get("code") == "InvalidJsonInput"]
    answer.expect(bool(found), "an entry with the code InvalidJsonInput")
    for entry in found:
        message = str(entry.get("message"))
        answer.expect(message.startswith(SENTENCE), f"a message that begins '{SENTENCE}'", message)
        detail = entry.get("detailedErrorMessage")
        answer.expect(isinstance(detail, str) and bool(detail), "a text detailedErrorMessage", detail)


@check("E-37", needs=["E-6"], cases=list(STRUCTURE))
def the_message_goes_on_with_the_detail(world: World, name: str) -> None:
    answer = refusal(world, STRUCTURE[name](world))
    found = [entry for entry in errors_of(answer) if entry.get("code") == "InvalidJsonInput"]
    holds = bool(found) and all(e.get("message") == f"{SENTENCE} {e.get('detailedErrorMessage')}" for e in found)
    answer.expect(holds, f"the message '{SENTENCE}' and then the detail", found)


SHOWN: dict[str, Ask] = {
    "a parameter": lambda world: world.get(query={"limit": "zwölf🐙"}),
    "a field": lambda world: world.post("", {"zwölf🐙": 1, **ANY}),
    "a value": lambda world: world.post("", {"key": "zwölf🐙", **ANY}),
}


@check("E-38", cases=list(SHOWN))
def letters_are_shown_as_they_were_sent(world: World, name: str) -> None:
    answer = refusal(world, SHOWN[name](world))
    answer.expect("zwölf🐙".encode() in answer.body, "zwölf🐙 in UTF-8")


def details_of(world: World, answer: Answer) -> list[str]:
    """The texts in ``detailedErrorMessage`` of a 400."""
    refusal(world, answer)
    return [str(entry["detailedErrorMessage"]) for entry in errors_of(answer) if "detailedErrorMessage" in entry]


DETAIL_PATHS: dict[str, tuple[Any, str]] = {
    "a field": ({"objectTypeProperty": 5}, "objectTypeProperty"),
    "the fourth item": (fields(arrayOfIntExample=[1, 2, 3, "a"]), "objectTypeProperty -> arrayOfIntExample -> 3"),
    "a field of an item": (
        fields(arrayOfObjectType=[{}, {"integerExample": "a"}]),
        "objectTypeProperty -> arrayOfObjectType -> 1 -> integerExample",
    ),
    "an unknown field": (fields(foo=1), "objectTypeProperty -> foo"),
    "a missing field": ({"key": "ab"}, "objectTypeProperty"),
}


@check("E-7", needs=["E-6"], cases=list(DETAIL_PATHS))
def a_detail_begins_with_the_path(world: World, name: str) -> None:
    body, path = DETAIL_PATHS[name]
    answer = world.post("", body)
    found = details_of(world, answer)
    answer.expect(any(text.startswith(f"{path}: ") for text in found), f"a detail that begins '{path}: '", found)


REASONS: dict[str, tuple[Any, str]] = {
    "an object": ({"objectTypeProperty": 5}, "JSON object expected."),
    "an object as an item": (fields(arrayOfObjectType=["a"]), "JSON object expected."),
    "a text": ({"key": 5, **ANY}, "JSON String expected."),
    "a number": (fields(arrayOfFloatExample=["0.5"]), "JSON Number expected."),
    "an array": (fields(arrayOfIntExample=5), "JSON Array expected."),
    "what is missing": ({}, "Missing required value."),
}


@check("E-8", needs=["E-6"], cases=list(REASONS))
def a_detail_gives_the_expected_type(world: World, name: str) -> None:
    body, reason = REASONS[name]
    expect_reason(world, world.post("", body), reason)


def expect_reason(world: World, answer: Answer, reason: str) -> None:
    """Expect a detail that ends with a reason."""
    found = details_of(world, answer)
    answer.expect(any(text.endswith(reason) for text in found), f"a detail that ends '{reason}'", found)


INTEGERS_EXPECTED: dict[str, Any] = {
    "a fraction": fields(arrayOfIntExample=[1.5]),
    "a boolean": fields(arrayOfUniqueIntExample=[True]),
    "a member of 32 bits": fields(arrayOfObjectType=[{"integerExampleInt32": "a"}]),
}


@check("E-7", needs=["E-6"], cases=INTEGERS_EXPECTED)
def a_detail_expects_an_integer(world: World, body: Any) -> None:
    expect_reason(world, world.post("", body), "JSON Number without a fraction expected.")
