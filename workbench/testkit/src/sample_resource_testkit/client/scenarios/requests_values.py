"""Requests: values in paths, queries, headers and forms that a client may encode wrongly."""

from sample_resource_testkit.client.operations import Call
from sample_resource_testkit.client.scenarios.sending import (
    by_form,
    drawn,
    drawn_text,
    listing,
    recording,
    searching,
    sends,
    sorted_listing,
)

BLANKS = "a b  c + d"
DELIMITERS = "a&b=c#d?e/f:g;h@i,j$k!l*m(n)[o]"
QUOTES = '"it\'s" \\ <b> `x` {y} |z| ^'
PERCENT = "100% %25 %2F %20 %zz +%"
UNICODE = "Grüße 日本 😀 e\u0301 \u202e ß"
BIG = 2**53 + 1
LEAST, MOST = -(2**63), 2**63 - 1


def by_key(key: str) -> Call:
    return Call("getResourceByKey", {"key": key})


def by_id(resource_id: str) -> Call:
    return Call("getResourceById", {"id": resource_id})


def conditional(operation: str, **headers: str) -> Call:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Call(operation, {"id": "01a2032c-47e7-7238-9557-4a15aa7b8370", **named})


# Texts in a query

sends("C-req-16", listing(stringParameter=BLANKS))
sends(
    "C-req-17",
    listing(stringParameter=DELIMITERS),
    listing(stringParameter=QUOTES),
    listing(stringParameter="a\tb\nc\r\nd"),
)
sends("C-req-19", listing(stringParameter=PERCENT))
sends("C-req-20", listing(stringParameter=UNICODE))
sends(
    "C-req-21",
    listing(stringParameter=""),
    Call("getResourceById", {"id": "a", "optionalQueryParameter": "", "secondOptionalQueryParameter": "x"}),
)

# Paths

sends("C-req-23", by_key(BLANKS), by_key("a=b&c?d#e;f"))
sends("C-req-24", by_key("a/b"), by_key("a%2Fb"), by_id("a/b"), by_id("a%2Fb c"))
sends("C-req-26", by_id(UNICODE), by_key("日本😀"))
sends(
    "C-req-27",
    recording({}, one='lastName = "Doe" & more/less?'),
    recording({}, one=PERCENT),
    recording({}, two="a/b 😀 +"),
)
sends("C-req-28", recording({}, one=""))

# Repetition

sends(
    "C-req-31",
    sorted_listing(where=["version > 3", "version < 9", 'key = "a"']),
    sorted_listing(sort=["version desc", "key asc", "id"]),
    sorted_listing(where=["version > 1"], sort=["id"]),
)
sends("C-req-33", listing(arrayOfString=["a", "b", "a"], arrayOfStringWithDescription=["x", "x"]))
sends("C-req-34", listing(arrayOfString=["a,b", "c"]), sorted_listing(where=["version in (1, 2)", "version > 0"]))
sends("C-req-36", sorted_listing(where=[], sort=[], limit=3))

# Parameters that are named by a pattern

sends(
    "C-req-37",
    sorted_listing(where=["key = :a and version > :min"], var={"a": "x", "min": "1", "B2": "y"}),
    sorted_listing(where=["key = :a"], var={"a": BLANKS + PERCENT, "b": UNICODE, "c": ""}),
)
sends("C-req-38", sorted_listing(where=["key in :keys"], var={"keys": ["b", "a", "b"]}))
sends(
    "C-req-40",
    searching(text={"en": "dog", "de": "Hund", "pt-BR": "cachorro"}),
    searching(text={"en": ["dog", "bird"]}),
)

# Booleans and numbers

sends("C-req-42", sorted_listing(withTotal=True), sorted_listing(withTotal=False), searching(staged=True, fuzzy=False))
sends(
    "C-req-43",
    sorted_listing(limit=0, offset=0),
    listing(integerParameter=0, floatParameter=0, withMarkdownDescription=0),
    listing(integerParameter=-7, floatParameter=-0.25),
)
sends(
    "C-req-45",
    listing(floatParameter=0.1, withMarkdownDescription=0.30000000000000004),
    listing(floatParameter=1e-7, withMarkdownDescription=123456.789),
    listing(floatParameter=1e21, withMarkdownDescription=1.5e300),
    listing(integerParameter=2**53 - 1),
    listing(integerParameter=2**31),
)
sends("C-req-48", listing(integerParameter=BIG), listing(integerParameter=LEAST), listing(integerParameter=MOST))

# objectParameter

sends(
    "C-req-50",
    listing(objectParameter={"arrayOfIntExample": [1, 2], "arrayOfStringExample": ["dog"]}),
    listing(objectParameter={"arrayOfStringExample": [DELIMITERS, QUOTES, UNICODE]}),
)
sends(
    "C-req-51", listing(objectParameter='{"arrayOfIntExample": [1, 2], "arrayOfObjectType": [{"integerExample": 7}]}')
)
sends(
    "C-req-53",
    listing(stringParameter=None, limit=None, arrayOfString=None, objectParameter=None, withTotal=None),
    Call("getResourceByKey", {"key": "a", "If-Match": None}),
)

# Forms

sends(
    "C-req-54",
    by_form(sort=["id"]),
    by_form(limit=3),
    by_form(offset=1),
    by_form(text={"en": "dog"}),
    by_form(fuzzyLevel=1),
    by_form(filter=["key:exists"]),
    by_form(**{"filter.facets": ["key:exists"]}),
    by_form(**{"filter.query": ["key:exists"]}),
    by_form(facet=["version"]),
)
sends(
    "C-req-55",
    by_form(facet=["version", "key", "version as v"], filter=["version:1", "key:exists"]),
    by_form(text={"en": ["dog", "bird"], "pt-BR": "cachorro"}),
)
drawn(
    "C-req-56",
    lambda stage: [
        by_form(text={"en": BLANKS, "de": UNICODE, "fr": DELIMITERS, "it": PERCENT, "es": QUOTES}),
        by_form(text={"en": [f"a{drawn_text(stage)}" for _ in range(8)]}),
    ],
)
sends(
    "C-req-58",
    Call("searchProductProjections", {"sort": ["version desc"], "limit": 4}, {"text": {"en": "dog"}, "offset": 2}),
)
sends("C-req-59", by_form(fuzzy=True, staged=False, withTotal=False, offset=0, limit=500))
sends("C-req-60", by_form(limit=None, text=None, filter=[], offset=1))

# Headers

sends(
    "C-req-91",
    *(conditional("deleteResourceById", If_Match=value) for value in ('"1"', "*", '"1", "2"')),
    *(conditional("getResourceById", If_None_Match=value) for value in ('"1"', "*", 'W/"1"', '"1", "3"')),
)
sends(
    "C-req-93",
    recording({}, Prefer="code=203"),
    Call("postDescriptionWithLinks", {"Prefer": "code=202"}, {"createdAt": "2016-02-28T16:41:41.090Z"}),
    recording({}, Accept="application/x-www-form-urlencoded"),
    recording({}, Accept="application/json"),
)

# Values that are drawn

drawn(
    "C-req-96",
    lambda stage: [
        listing(arrayOfString=[drawn_text(stage) for _ in range(8)]),
        listing(stringParameter="abcdefg " * 500),
    ],
)
drawn("C-req-97", lambda stage: [recording({}, one=drawn_text(stage), two=drawn_text(stage)) for _ in range(4)])
