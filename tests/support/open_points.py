"""The places where the interface says "not shown", says nothing, or says two things that differ, in our own words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OpenPoint:
    """A place.

    :param number: the section of the interface and a letter, as in ``4.3-a``.
    """

    number: str
    text: str


OPEN_POINTS = (
    OpenPoint(
        "2.1-a",
        "The types of region and cloudProvider are free text, and how a host is made of them is not said.",
    ),
    OpenPoint(
        "2.1-b",
        "Which texts are project keys, and whether a project has to be made first, is not said.",
    ),
    OpenPoint(
        "2.1-c",
        "Whether a slash at the end of a path makes another URL is not said.",
    ),
    OpenPoint(
        "2.2-a",
        "4.2 and 4.3 find a resource by id and by key, and the example resource has neither.",
    ),
    OpenPoint(
        "2.2-b",
        "Which keys there are, and whether two resources may have one, is not said.",
    ),
    OpenPoint(
        "2.3-a",
        "Limits of array sizes and of item values: not shown.",
    ),
    OpenPoint(
        "2.3-b",
        "Which fields of ObjectType and of its items are required: not shown.",
    ),
    OpenPoint(
        "2.3-c",
        "What becomes of values that break a rule of ObjectType (type, unique items, two items) is not said.",
    ),
    OpenPoint(
        "2.3-d",
        "Whether unknown fields and null are accepted in bodies is not said.",
    ),
    OpenPoint(
        "2.4-a",
        "Declared types of the scalar fields of the complex record: not shown.",
    ),
    OpenPoint(
        "2.4-b",
        "Which fields of the complex record are required: not shown.",
    ),
    OpenPoint(
        "2.4-c",
        "Which notations of a date-time are accepted is not said; answers have milliseconds and Z.",
    ),
    OpenPoint(
        "2.5-a",
        "Whose time the date/time record shows, and in which zone, is not said.",
    ),
    OpenPoint(
        "2.6-a",
        "What doSomeThing does, and where the text of changeSomeProperty shows, is not said.",
    ),
    OpenPoint(
        "3-a",
        "States and transitions of the resource: not shown.",
    ),
    OpenPoint(
        "4-a",
        "Success status codes other than the one of HEAD: not shown.",
    ),
    OpenPoint(
        "4-b",
        "What becomes of requests with other parameters, methods or media types is not said.",
    ),
    OpenPoint(
        "4-c",
        "How booleans, numbers and empty texts are written in query strings is not said.",
    ),
    OpenPoint(
        "4-d",
        "Bodies and queries are JSON unless stated otherwise, and yet queries have parameters: which of them is JSON?",
    ),
    OpenPoint(
        "4.1-a",
        "4.1 contradicts itself: it returns a paged query result, and its body is a flat ObjectType.",
    ),
    OpenPoint(
        "4.1-b",
        "What the query parameters of 4.1 mean is not said, nor whether they narrow the list.",
    ),
    OpenPoint(
        "4.1-c",
        "Whether 4.1 and 4.5 take where, sort, limit and offset is not said.",
    ),
    OpenPoint(
        "4.1-d",
        "Which array each parameter of 4.1 looks in, and what repeating one of the two arrays means, is not said.",
    ),
    OpenPoint(
        "4.1-e",
        "Which fields objectParameter may have is not said.",
    ),
    OpenPoint(
        "4.5-a",
        "The status of an existence check that finds nothing is not said.",
    ),
    OpenPoint(
        "4.5-b",
        "What limit and offset mean for an existence check is not said.",
    ),
    OpenPoint(
        "4.2-a",
        "What the two optional parameters of 4.2 do is not said.",
    ),
    OpenPoint(
        "4.2-b",
        "What is answered for an id or key that no resource has is not said.",
    ),
    OpenPoint(
        "4.3-a",
        "The status codes of the three response models of 4.3: not shown.",
    ),
    OpenPoint(
        "4.4-a",
        "The response body of 4.4: not shown.",
    ),
    OpenPoint(
        "4.4-b",
        "The languages of filter, filter.query, filter.facets and facet are not said.",
    ),
    OpenPoint(
        "4.4-c",
        "Which fields a text looks in, and what matches, is not said.",
    ),
    OpenPoint(
        "4.4-d",
        "The platform's default fuzzy level is named and not shown, and fuzzyLevel is a float.",
    ),
    OpenPoint(
        "4.4-e",
        "The expression for text.<language> has an unescaped dot; whether all of a name must match is not said.",
    ),
    OpenPoint(
        "4.4-f",
        "What a text finds that has no word to look for is not said.",
    ),
    OpenPoint(
        "4.14-a",
        "Method, form fields, query parameters and response of 4.14: not shown.",
    ),
    OpenPoint(
        "4.14-b",
        "What tells view_products and view_published_products apart is not said.",
    ),
    OpenPoint(
        "4.6-a",
        "Which resource a body of 4.6, 4.7 and 4.8 means: the body that is shown names none.",
    ),
    OpenPoint(
        "4.6-b",
        "What update and overwrite mean for fields that are not sent is not said.",
    ),
    OpenPoint(
        "4.6-c",
        "What a body means whose id or key no resource has is not said.",
    ),
    OpenPoint(
        "4.6-d",
        "What a body means that has both an id and a key is not said.",
    ),
    OpenPoint(
        "4.7-a",
        "The response body of 4.7: not shown.",
    ),
    OpenPoint(
        "4.7-b",
        "Whether version is needed in 4.7 and 4.8, and what another one than the actual one does, is not said.",
    ),
    OpenPoint(
        "4.7-c",
        "What a version means where a write creates, as the body of PUT always has one, is not said.",
    ),
    OpenPoint(
        "4.8-a",
        "The response body of 4.8: not shown.",
    ),
    OpenPoint(
        "4.10-a",
        "The response body of 4.10: not shown.",
    ),
    OpenPoint(
        "4.10-b",
        "The scopes of 4.10: not shown.",
    ),
    OpenPoint(
        "4.10-c",
        "Whether actions apply together, how many there may be, and which fields are required is not said.",
    ),
    OpenPoint(
        "4.10-d",
        "The version is an integer in 2.2 and a float in 4.10.",
    ),
    OpenPoint(
        "4.11-a",
        "Whether a delete can expect a version is not said.",
    ),
    OpenPoint(
        "4.9-a",
        "The status code of each of the four alternative bodies of 4.9: not shown.",
    ),
    OpenPoint(
        "4.9-b",
        "The scopes of 4.9: not shown.",
    ),
    OpenPoint(
        "4.9-c",
        "Whether 4.9 and 4.13 keep anything, and what their ObjectType holds, is not said.",
    ),
    OpenPoint(
        "4.13-a",
        "The status codes of the two bodies of 4.13: not shown.",
    ),
    OpenPoint(
        "4.13-b",
        "The scopes of 4.13: not shown.",
    ),
    OpenPoint(
        "4.13-c",
        "Which time of the body the second answer of 4.13 shows, and what it does without one, is not said.",
    ),
    OpenPoint(
        "4.12-a",
        "The response body of 4.12: not shown.",
    ),
    OpenPoint(
        "4.12-b",
        "The language of where, the fields of sort and the paths of expand are not said.",
    ),
    OpenPoint(
        "4.12-c",
        "limit and offset are floats, and what a fraction means is not said.",
    ),
    OpenPoint(
        "5-a",
        "How the token is obtained, and its lifetime: not shown.",
    ),
    OpenPoint(
        "5-b",
        "The statuses without a token and with too little scope are not said.",
    ),
    OpenPoint(
        "5-c",
        "Whether one scope includes another is not said.",
    ),
    OpenPoint(
        "6-a",
        "Events and notifications: not shown.",
    ),
    OpenPoint(
        "7-a",
        "The error body shape: not shown.",
    ),
    OpenPoint(
        "7-b",
        "All error codes and conditions but the 409 of 4.10: not shown.",
    ),
    OpenPoint(
        "7-c",
        "Which fault is told first, and whether all are, is not said.",
    ),
    OpenPoint(
        "8-a",
        "Rate limits: not shown.",
    ),
    OpenPoint(
        "8-b",
        "Size limits: not shown.",
    ),
    OpenPoint(
        "8-c",
        "Paging defaults and maximum page sizes: not shown.",
    ),
    OpenPoint(
        "9-a",
        "The first version of a resource, and its steps, are not said.",
    ),
    OpenPoint(
        "9-b",
        "Versioning of the interface itself: not shown.",
    ),
)
"""All of them, in the order of the page that decides them."""

NOT_SHOWN = {
    "1": 1,
    "2.3": 1,
    "2.4": 1,
    "3": 1,
    "4": 1,
    "4.3": 1,
    "4.4": 1,
    "4.7": 1,
    "4.8": 1,
    "4.9": 2,
    "4.10": 2,
    "4.12": 1,
    "4.13": 2,
    "4.14": 1,
    "5": 1,
    "6": 1,
    "7": 1,
    "8": 1,
    "9": 1,
}
"""How often each section of the interface says "not shown"."""

NEEDS_NO_DECISION = {"1": "what the service is for, beyond its operations"}
"""Sections whose "not shown" asks for nothing that a client could notice."""
