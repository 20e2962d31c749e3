"""POST with all options (4.9) and description with links (4.13)."""

import json
from datetime import datetime
from typing import Any
from urllib.parse import quote

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import FORM
from sample_resource_testkit.checks.names import INTEGERS, LINKS, TEXTS, UNIQUE, complex_path
from sample_resource_testkit.checks.refusals import refused
from sample_resource_testkit.checks.samples_record import PERSON, SAMPLE, SCALARS, whole_record
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

PAIR, FLOATS, NUMBERS = "arrayOfTwonumbersExample", "arrayOfFloatExample", "arrayOfNumberNoDefaultsExample"
OBJECT_TYPE = {TEXTS, INTEGERS, UNIQUE, PAIR, FLOATS, NUMBERS, "arrayOfObjectType"}


QUERIES: dict[str, dict[str, Any]] = {
    "no parameters": {},
    "a number": {"queryParameterOne": 5},
    "both": {"queryParameterOne": 1.5, "queryParameterTwo": "ä😀"},
}


def expect_flat(answer: Answer) -> None:
    """Expect only fields of ObjectType, each of them an array."""
    answer.expect_success()
    body = answer.json
    holds = isinstance(body, dict) and set(body) <= OBJECT_TYPE and all(isinstance(one, list) for one in body.values())
    answer.expect(holds, "an object that has nothing but arrays of ObjectType")


@check("4.9-1", cases=list(QUERIES))
def all_options_answers_a_flat_objecttype(world: World, name: str) -> None:
    expect_flat(world.post(complex_path(), whole_record(), query=QUERIES[name]))


@check("4.13-1", cases=list(QUERIES))
def links_answers_a_flat_objecttype(world: World, name: str) -> None:
    expect_flat(world.post(LINKS, whole_record(), query=QUERIES[name]))


NAMES = {"firstName": "Grace", "lastName": "Hopper"}

OBJECT_TEXT = '{"a":[1,0.5,true,null,"b"],"c":{"ä":{}}}'

TEXT_CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "nothing": ({}, {}, []),
    "queryParameterTwo": ({"queryParameterTwo": "two"}, {}, ["two"]),
    "all texts, sent backwards": ({}, {name: name.upper() for name in SCALARS[::-1]}, [*map(str.upper, SCALARS)]),
    "booleans": ({}, {"key": True, "id": False, "custom": "true"}, ["false", "true", "true"]),
    "an object": ({}, {"custom": {"a": [1, 0.5, True, None, "b"], "c": {"ä": {}}}}, [OBJECT_TEXT]),
    "an array among texts": ({}, {"id": "i", "version": [2, "v"], "key": "k"}, ["i", '[2,"v"]', "k"]),
    "null": ({}, {"id": None, "custom": "c"}, ["c"]),
    "first names after the texts": ({}, {"createdBy": PERSON, "custom": "c"}, ["c", "Ada", "Lovelace"]),
    "both persons, sent backwards": (
        {},
        {"lastModifiedBy": NAMES, "createdBy": {"lastName": "Lovelace", "firstName": "Ada"}},
        ["Ada", "Lovelace", "Grace", "Hopper"],
    ),
    "everything": (
        {"queryParameterOne": 5, "queryParameterTwo": "two"},
        whole_record(),
        ["two", *(f"text of {name}" for name in SCALARS), "Ada", "Lovelace", "Grace", "Hopper"],
    ),
}

NUMBER_CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, list[Any]]]] = {
    "queryParameterOne": ({"queryParameterOne": 1.5}, {}, {NUMBERS: [1.5], FLOATS: [1.5]}),
    "one integer": ({}, {"custom": 7}, {NUMBERS: [7], INTEGERS: [7], UNIQUE: [7]}),
    "one fraction": ({}, {"custom": 0.25}, {NUMBERS: [0.25]}),
    "queryParameterOne first": (
        {"queryParameterOne": 9},
        {"id": 1, "version": -2.5},
        {NUMBERS: [9, 1, -2.5], FLOATS: [9], INTEGERS: [1], UNIQUE: [1]},
    ),
    "repetitions": (
        {},
        {"id": 3, "version": 1, "key": 3, "custom": 1},
        {NUMBERS: [3, 1, 3, 1], INTEGERS: [3, 1, 3, 1], UNIQUE: [3, 1]},
    ),
    "beyond 64 bits": ({}, {"id": 1 << 64, "version": 1}, {NUMBERS: [1 << 64, 1], INTEGERS: [1], UNIQUE: [1]}),
}


def numbers_of(answer: Answer) -> dict[str, Any]:
    """The arrays of numbers in a body, without those that are empty."""
    return {name: answer.members[name] for name in (NUMBERS, FLOATS, INTEGERS, UNIQUE) if answer.members.get(name)}


def without_blanks(text: str) -> str:
    """JSON text in one notation, because a server may add blanks; any other text unchanged."""
    if text[:1] not in ("{", "["):
        return text
    return json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True)


@check("4.9-2", needs=["4.9-1"], cases=list(TEXT_CASES))
def texts_arrive_in_their_order(world: World, name: str) -> None:
    query, record, wanted = TEXT_CASES[name]
    one, two = world.word(), world.word()
    answer = world.post(complex_path(one, two), record, query=query)
    found = [one, two, *map(without_blanks, wanted)]
    got = [without_blanks(text) for text in answer.at(TEXTS)]
    answer.expect(got == found, f"the texts {found}", got)


@check("4.9-3", needs=["4.9-1"], cases=list(NUMBER_CASES))
def numbers_arrive_in_the_arrays_of_their_types(world: World, name: str) -> None:
    query, record, wanted = NUMBER_CASES[name]
    answer = world.post(complex_path(), record, query=query).expect_success()
    found = numbers_of(answer)
    answer.expect(found == wanted, f"{wanted}", found)


TIMES = {
    "the later one first": ("2016-02-28T16:41:42.090Z", "2016-02-28T16:41:41.090Z"),
    "with offsets": ("2016-02-28T16:41:41.090+01:00", "2016-02-28T16:41:41.090-05:30"),
    "1970 and before": ("1970-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z"),
}


def milliseconds(text: str) -> int:
    """A time in milliseconds since 1970."""
    moment = datetime.fromisoformat(text)
    return round(moment.timestamp() * 1000)


@check("4.9-3", needs=["4.9-1"], cases=list(TIMES))
def both_times_arrive_as_milliseconds(world: World, name: str) -> None:
    created, modified = TIMES[name]
    answer = world.post(complex_path(), {"lastModifiedAt": modified, "createdAt": created})
    answer.expect_json(PAIR, [milliseconds(created), milliseconds(modified)])


ALONE: dict[str, tuple[dict[str, Any], dict[str, Any], set[str]]] = {
    "an integer": ({}, {"custom": 1}, {TEXTS, NUMBERS, INTEGERS, UNIQUE}),
    "queryParameterOne": ({"queryParameterOne": 1}, {}, {TEXTS, NUMBERS, FLOATS}),
    "one time": ({}, {"createdAt": SAMPLE}, {TEXTS}),
    "an empty person": ({}, {"createdBy": {}}, {TEXTS}),
}


@check("4.9-3", needs=["4.9-1"], cases=list(ALONE))
def fields_that_would_hold_nothing_are_left_out(world: World, name: str) -> None:
    query, record, wanted = ALONE[name]
    answer = world.post(complex_path(), record, query=query).expect_success()
    answer.expect(set(answer.members) == wanted, f"the fields {sorted(wanted)} alone", sorted(answer.members))


@check("4.9-6", needs=["4.1-1"], cases={"4.9": complex_path(), "4.13": LINKS})
def a_sample_stores_nothing(world: World, path: str) -> None:
    own = world.empty_project()
    own.post(path, {"key": "kit-key", "custom": "a"}).expect_success()
    own.get().expect_status(200).expect_json("results", [])


PATH_TEXTS = ['lastName = "Doe"', "a+b", "a/b", "%2F", "a?b", "a&b;c", "\\", "\U0001f600", "key=a"]


@check("4.9-7", needs=["4.9-2"], cases=PATH_TEXTS)
def a_path_parameter_arrives_as_it_was_meant(world: World, text: str) -> None:
    escaped = quote(text, safe="")
    world.post(complex_path(escaped, "two"), {}).expect_success().expect_json(TEXTS, [text, "two"])
    world.post(complex_path("one", escaped), {}).expect_success().expect_json(TEXTS, ["one", text])


@check("4.9-7", needs=["4.9-2"], cases={"in words": "two", "an encoded slash": "%2F"})
def the_first_path_parameter_may_be_empty(world: World, two: str) -> None:
    answer = world.post(complex_path("", two), {}).expect_status(200)
    answer.expect_json(TEXTS, 0, "")


@check("4.9-9", needs=["4.9-1"], cases=["no header", "code=202", "code=204", "code=299", "code=abc", "code=", "a=201"])
def another_code_is_ignored(world: World, preference: str) -> None:
    # No codes from 400 on, because a sandbox may take these for orders.
    headers = {} if preference == "no header" else {"Prefer": preference}
    answer = world.post(complex_path(), {}, headers=headers).expect_status(200)
    answer.expect_no_header("Preference-Applied")


ACCEPTED_TYPES = {
    "a form": (FORM, FORM),
    "a form rather than JSON": (f"application/json;q=0.5, {FORM}", FORM),
    "JSON rather than a form": (f"{FORM};q=0.1, application/json", "application/json"),
    "anything": ("*/*", "application/json"),
    "a form with a charset": (f"{FORM}; charset=utf-8, application/json;q=0.5", FORM),
    "a page": ("text/html", "application/json"),
    "no JSON": ("application/json;q=0", "application/json"),
}


@check("4.9-10", needs=["4.9-1"], cases=list(ACCEPTED_TYPES))
def the_answer_has_an_accepted_type(world: World, name: str) -> None:
    accept, wanted = ACCEPTED_TYPES[name]
    answer = world.post(complex_path(), {}, headers={"Accept": accept}).expect_status(200)
    found = (answer.header("Content-Type") or "").partition(";")[0].strip().lower()
    answer.expect(found == wanted, f"Content-Type: {wanted}", found)


@check("4-13", cases=["%FF", "a%FF", "%C3", "%C3%28", "%ED%A0%80", "%C0%80"])
def what_is_no_text_is_refused_in_the_path(world: World, escaped: str) -> None:
    refused(world.post(complex_path(escaped, "two"), {}), 400, "InvalidInput")
    refused(world.post(complex_path("one", escaped), {}), 400, "InvalidInput")


@check("4.13-1", cases={"both parameters": QUERIES["both"], "no parameters": {}})
def links_answers_the_date_time_record(world: World, query: dict[str, Any]) -> None:
    answer = world.post(LINKS, {"lastModifiedAt": SAMPLE}, query=query, headers={"Prefer": "code=202"})
    body = answer.expect_success().json
    answer.expect(isinstance(body, dict) and "dateTimeExampleRfc" in body, "the date/time record (2.5)")


@check("4.13-2", needs=["4.13-1"], cases=list(TEXT_CASES))
def texts_of_the_record_arrive(world: World, name: str) -> None:
    query, record, wanted = TEXT_CASES[name]
    answer = world.post(LINKS, record, query=query).expect_status(200)
    if wanted:
        answer.expect_json(TEXTS, wanted)
    else:
        answer.expect_absent(TEXTS)


@check("4.13-3", needs=["4.13-1"], cases=["no header", "code=201", "code=203", "code=204", "code=abc", "a=202"])
def another_code_than_202_is_ignored(world: World, preference: str) -> None:
    # No codes from 400 on, because a sandbox may take these for orders.
    headers = {} if preference == "no header" else {"Prefer": preference}
    answer = world.post(LINKS, {"createdAt": SAMPLE}, headers=headers).expect_status(200)
    answer.expect_no_header("Preference-Applied")
