"""Requests: values in paths, queries, headers and forms, that a client may write wrongly."""

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

sends("C-req-16", "blanks and plus signs arrive in a query as they are", "4-12", listing(stringParameter=BLANKS))
sends("C-req-17", "delimiters arrive in a query as a part of their value", "4-12", listing(stringParameter=DELIMITERS))
sends("C-req-18", "quotes, backslashes and brackets arrive in a query", "4-12", listing(stringParameter=QUOTES))
sends("C-req-19", "a percent sign is encoded once, and not twice", "4-12", listing(stringParameter=PERCENT))
sends("C-req-20", "Unicode beyond the BMP arrives in a query as UTF-8", "4-12", listing(stringParameter=UNICODE))
sends(
    "C-req-21",
    "the empty text is sent, and not left out",
    "4-6",
    listing(stringParameter=""),
    Call("getResourceById", {"id": "a", "optionalQueryParameter": "", "secondOptionalQueryParameter": "x"}),
)
sends("C-req-22", "tabs and ends of lines arrive in a query", "4-12", listing(stringParameter="a\tb\nc\r\nd"))

# Paths

sends("C-req-23", "a key arrives in its segment whatever it contains", "4.3-3", by_key(BLANKS), by_key("a=b&c?d#e;f"))
sends("C-req-24", "a slash in a key is a part of its segment", "2.1-8 4.3-3", by_key("a/b"), by_key("a%2Fb"))
sends(
    "C-req-25",
    "a slash and a percent sign in an id are a part of their segment",
    "2.1-8",
    by_id("a/b"),
    by_id("a%2Fb c"),
)
sends("C-req-26", "Unicode beyond the BMP arrives in a path as UTF-8", "2.1-6", by_id(UNICODE), by_key("日本😀"))
sends(
    "C-req-27",
    "delimiters and blanks arrive in uriParameterOne",
    "4.9-7",
    recording({}, one='lastName = "Doe" & more/less?'),
    recording({}, one=PERCENT),
)
sends("C-req-28", "an empty uriParameterOne keeps its segment", "4.9-8", recording({}, one=""))
sends("C-req-29", "a slash and Unicode arrive in uriParameterTwo", "4.9-7", recording({}, two="a/b 😀 +"))

# Repetition

sends(
    "C-req-31",
    "several predicates are sent as a repeated parameter, in their order",
    "4.12-1",
    sorted_listing(where=["version > 3", "version < 9", 'key = "a"']),
)
sends("C-req-32", "the order of sort is kept", "4.12-1", sorted_listing(sort=["version desc", "key asc", "id"]))
sends(
    "C-req-33",
    "a text that is repeated is sent as often",
    "4.1-10",
    listing(arrayOfString=["a", "b", "a"], arrayOfStringWithDescription=["x", "x"]),
)
sends(
    "C-req-34",
    "a comma in a repeated value does not divide it",
    "4.1-10 4-12",
    listing(arrayOfString=["a,b", "c"]),
    sorted_listing(where=["version in (1, 2)", "version > 0"]),
)
sends("C-req-35", "a list of one value is one pair", "4.12-1", sorted_listing(where=["version > 1"], sort=["id"]))
sends("C-req-36", "an empty list is no pair at all", "4-6", sorted_listing(where=[], sort=[], limit=3))

# Parameters that are named by a pattern

sends(
    "C-req-37",
    "variables are sent under their own names, with var. before them",
    "4.12-1",
    sorted_listing(where=["key = :a and version > :min"], var={"a": "x", "min": "1", "B2": "y"}),
)
sends(
    "C-req-38",
    "a variable that is a list is a repeated parameter, in order",
    "4.12-1",
    sorted_listing(where=["key in :keys"], var={"keys": ["b", "a", "b"]}),
)
sends(
    "C-req-39",
    "values of variables arrive as they are",
    "4-12",
    sorted_listing(where=["key = :a"], var={"a": BLANKS + PERCENT, "b": UNICODE, "c": ""}),
)
sends(
    "C-req-40",
    "texts of several languages are sent under their own names, with text. before them",
    "4.4-2",
    searching(text={"en": "dog", "de": "Hund", "pt-BR": "cachorro"}),
)
sends(
    "C-req-41",
    "several texts of one language are a repeated parameter, in order",
    "4.4-2",
    searching(text={"en": ["dog", "bird"]}),
)

# Booleans and numbers

sends(
    "C-req-42",
    "booleans are written true and false",
    "4-7",
    sorted_listing(withTotal=True),
    sorted_listing(withTotal=False),
    searching(staged=True, fuzzy=False),
)
sends(
    "C-req-43",
    "0 is sent, and not left out",
    "4-9",
    sorted_listing(limit=0, offset=0),
    listing(integerParameter=0, floatParameter=0, withMarkdownDescription=0),
)
sends("C-req-44", "negative numbers keep their sign", "4-9", listing(integerParameter=-7, floatParameter=-0.25))
sends(
    "C-req-45",
    "fractions keep all of their digits",
    "4-9",
    listing(floatParameter=0.1, withMarkdownDescription=0.30000000000000004),
    listing(floatParameter=1e-7, withMarkdownDescription=123456.789),
)
sends(
    "C-req-46", "large numbers keep their value", "4-9", listing(floatParameter=1e21, withMarkdownDescription=1.5e300)
)
sends(
    "C-req-47",
    "integers up to 2^53 are exact",
    "4-9",
    listing(integerParameter=2**53 - 1),
    listing(integerParameter=2**31),
)
sends("C-req-48", "2^53 + 1 is exact in a query", "4-9 2.3-5", listing(integerParameter=BIG))
sends(
    "C-req-49",
    "the ends of int64 are exact in a query",
    "4-9 2.3-5",
    listing(integerParameter=LEAST),
    listing(integerParameter=MOST),
)

# objectParameter

sends(
    "C-req-50",
    "objectParameter as an object is sent as JSON",
    "4.1-12",
    listing(objectParameter={"arrayOfIntExample": [1, 2], "arrayOfStringExample": ["dog"]}),
)
sends(
    "C-req-51",
    "objectParameter as a text is sent as it is",
    "4.1-12",
    listing(objectParameter='{"arrayOfIntExample": [1, 2], "arrayOfObjectType": [{"integerExample": 7}]}'),
)
sends(
    "C-req-52",
    "texts in objectParameter arrive as they are",
    "4.1-12 4-12",
    listing(objectParameter={"arrayOfStringExample": [DELIMITERS, QUOTES, UNICODE]}),
)
sends(
    "C-req-53",
    "an argument that is null is absent",
    "4-6",
    listing(stringParameter=None, limit=None, arrayOfString=None, objectParameter=None, withTotal=None),
    Call("getResourceByKey", {"key": "a", "If-Match": None}),
)

# Forms

sends(
    "C-req-54",
    "each field of the form is sent alone, in the body",
    "4.14-3",
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
    "repeated fields of a form are repeated pairs, in order",
    "4.14-3",
    by_form(facet=["version", "key", "version as v"], filter=["version:1", "key:exists"]),
)
sends(
    "C-req-56",
    "texts arrive in a form as they are",
    "4.14-3",
    by_form(text={"en": BLANKS, "de": UNICODE, "fr": DELIMITERS, "it": PERCENT, "es": QUOTES}),
)
sends(
    "C-req-57",
    "texts of several languages are fields of the form under their own names",
    "4.14-3 4.4-2",
    by_form(text={"en": ["dog", "bird"], "pt-BR": "cachorro"}),
)
sends(
    "C-req-58",
    "query and form keep their own parameters",
    "4.14-3",
    Call("searchProductProjections", {"sort": ["version desc"], "limit": 4}, {"text": {"en": "dog"}, "offset": 2}),
)
sends(
    "C-req-59",
    "booleans, 0 and numbers are written in a form as in a query",
    "4.14-3 4-7",
    by_form(fuzzy=True, staged=False, withTotal=False, offset=0, limit=500),
)
sends(
    "C-req-60",
    "fields of a form that are null, and empty lists, are absent",
    "4.14-3",
    by_form(limit=None, text=None, filter=[], offset=1),
)

# Headers

sends(
    "C-req-91",
    "If-Match is sent as it was given, with its quotes",
    "H-4 H-12",
    *(conditional("deleteResourceById", If_Match=value) for value in ('"1"', "*", '"1", "2"')),
)
sends(
    "C-req-92",
    "If-None-Match is sent as it was given, also a weak one",
    "H-2 H-11",
    *(conditional("getResourceById", If_None_Match=value) for value in ('"1"', "*", 'W/"1"', '"1", "3"')),
)
sends(
    "C-req-93",
    "Prefer is sent as it was given",
    "4.9-9 4.13-3",
    recording({}, Prefer="code=203"),
    Call("postDescriptionWithLinks", {"Prefer": "code=202"}, {"createdAt": "2016-02-28T16:41:41.090Z"}),
)
sends(
    "C-req-94",
    "Accept is sent as it was given",
    "4.9-10",
    recording({}, Accept="application/x-www-form-urlencoded"),
    recording({}, Accept="application/json"),
)
sends("C-req-95", "a long value is not cut off in a query", "4-12", listing(stringParameter="abcdefg " * 500))

# Values that are drawn

drawn(
    "C-req-96",
    "drawn texts arrive in a query as they are",
    "4-12",
    lambda stage: [listing(arrayOfString=[drawn_text(stage) for _ in range(8)])],
)
drawn(
    "C-req-97",
    "drawn texts arrive in a path as they are",
    "2.1-8 4.9-7",
    lambda stage: [recording({}, one=drawn_text(stage), two=drawn_text(stage)) for _ in range(4)],
)
drawn(
    "C-req-98",
    "drawn texts arrive in a form as they are",
    "4.14-3",
    lambda stage: [by_form(text={"en": [f"a{drawn_text(stage)}" for _ in range(8)]})],
)
