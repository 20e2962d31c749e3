"""Query parameters of all endpoints (4): names, repetition, emptiness, and the notation of values."""

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import update_body
from sample_resource_testkit.checks.names import LINKS, TEXTS, complex_path
from sample_resource_testkit.checks.refusals import errors_of, refused
from sample_resource_testkit.checks.steps import expect_found, keyed
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

COMPLEX = complex_path("a", "b")

ENDPOINTS = {
    "list": "GET ",
    "existence check": "HEAD ",
    "sorted list": "GET /sorted-query-parameters",
    "search": "GET /searchApiPattern",
    "by id": "GET /{id}",
    "by key": "GET /key={key}",
    "POST": "POST ",
    "PUT": "PUT ",
    "PATCH": "PATCH ",
    "POST on an id": "POST /{id}",
    "DELETE": "DELETE /{id}",
    "4.9": f"POST {COMPLEX}",
    "4.13": f"POST {LINKS}",
}


def asked(world: World, endpoint: str, query: str) -> Answer:
    """Send a request that is valid except, maybe, for its query."""
    method, _, pattern = endpoint.partition(" ")
    made = keyed(world)
    path = pattern.format(id=made.id, key=made.key)
    separator = "&" if "?" in path else "?"
    body: dict[str, object] | None = None
    if method in ("POST", "PUT", "PATCH"):
        if pattern == "/{id}":
            body = update_body(made.version)
        elif pattern in (COMPLEX, LINKS):
            body = {}
        else:
            body = {"id": made.id, "version": made.version, "objectTypeProperty": {}}
    options = {} if body is None else {"json": body}
    return world.send(method, f"{path}{separator}{query}", **options)


@check("4-4", cases={name: place for name, place in ENDPOINTS.items() if name != "existence check"})
def an_undeclared_parameter_is_refused_and_named(world: World, endpoint: str) -> None:
    answer = refused(asked(world, endpoint, "fooBar=1"), 400, "InvalidInput")
    messages = [str(entry.get("message")) for entry in errors_of(answer)]
    answer.expect(any("fooBar" in message for message in messages), "the name fooBar in the message", messages)


@check(
    "4-4",
    cases={
        "limt": ("sorted list", "limt", "limit"),
        "Limit": ("sorted list", "Limit", "limit"),
        "stagd": ("POST", "stagd", "staged"),
        "filter.querry": ("search", "filter.querry", "filter.query"),
        "var_ids": ("sorted list", "var_ids", "var.ids"),
        "var[ids][0]": ("sorted list", "var[ids][0]", "var.ids"),
    },
)
def the_nearest_parameter_is_named(world: World, endpoint: str, sent: str, nearest: str) -> None:
    answer = asked(world, ENDPOINTS[endpoint], f"{sent}=1")
    refused(answer, 400, "InvalidInput")
    begin = f"Malformed parameter: {sent}: Unknown parameter. Did you mean '{nearest}'?"
    messages = [str(entry.get("message")) for entry in errors_of(answer)]
    answer.expect(any(message.startswith(begin) for message in messages), f"a message that begins '{begin}'", messages)


BOOLEANS = {
    "withTotal": ("GET /sorted-query-parameters", "limit=1&withTotal={}"),
    "staged of a search": ("GET /searchApiPattern", "limit=1&staged={}"),
    "fuzzy": ("GET /searchApiPattern", "limit=1&text.en=a&fuzzy={}"),
    "staged of POST": ("POST ", "staged={}"),
}


@check("4-7", cases=BOOLEANS)
def a_boolean_takes_both_words(world: World, endpoint: str, query: str) -> None:
    asked(world, endpoint, query.format("true")).expect_success()
    asked(world, endpoint, query.format("false")).expect_success()


@check("4-8", cases=["1", "0", "yes", "no", "on", "t", "null", "true%20", "%22true%22", "2"])
def a_boolean_takes_no_other_text(world: World, text: str) -> None:
    refused(world.get(f"/sorted-query-parameters?limit=1&withTotal={text}"), 400, "InvalidInput")


@check("4-10", cases=["20", "20.0", "2e1", "2E1", "2e%2B1", "20.000", "200e-1", "0.2e2", "2.0E1"])
def a_limit_takes_the_notation_of_json(world: World, text: str) -> None:
    world.get(f"/sorted-query-parameters?limit={text}").expect_status(200).expect_json("limit", 20)


OTHER_NOTATIONS = {
    "a leading zero": "020",
    "a plus sign": "%2B5",
    "no digit before the point": ".5",
    "hexadecimal": "0x10",
    "an underscore": "1_000",
    "NaN": "NaN",
    "beyond all doubles": "1e400",
    "a blank before it": "%205",
    "digits of another script": "%D9%A3",
    "a letter": "a",
}


@check("4-10", cases=OTHER_NOTATIONS)
def a_limit_takes_no_other_notation(world: World, text: str) -> None:
    refused(world.get(f"/sorted-query-parameters?limit={text}"), 400, "InvalidInput")


ENCODED_TEXTS = {
    "a plus as a blank": ("{}+b", "{} b"),
    "%20 as a blank": ("{}%20b", "{} b"),
    "%2B as a plus": ("{}%2Bb", "{}+b"),
    "an ampersand": ("{}%26b%3D1", "{}&b=1"),
    "a percent sign before digits": ("{}%2541", "{}%41"),
    "an equals sign as it is": ("{}=b", "{}=b"),
    "umlauts": ("{}%C3%BC", "{}ü"),
    "an emoji": ("{}%F0%9F%90%99", "{}🐙"),
    "a semicolon": ("{}%3Bb", "{};b"),
}


@check("4-12", needs=["4.1-6"], cases=ENCODED_TEXTS)
def a_query_string_is_decoded_as_forms_are(world: World, encoded: str, text: str) -> None:
    word = world.word()
    made = world.make({TEXTS: [text.format(word)]})
    expect_found(world.get(f"?stringParameter={encoded.format(word)}"), made)


NOT_UTF_8 = {
    "%FF": "a%FFb",
    "a character that is cut off": "%C3",
    "a surrogate": "%ED%A0%80",
    "an overlong slash": "%C0%AF",
    "U+0000": "a%00b",
}


@check("4-13", cases=NOT_UTF_8)
def a_value_that_is_no_text_is_refused(world: World, text: str) -> None:
    refused(world.get(f"?stringParameter={text}"), 400, "InvalidInput")
