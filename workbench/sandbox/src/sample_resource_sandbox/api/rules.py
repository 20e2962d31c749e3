"""The schema of rules as they are sent, and the checks for contradictions between their members."""

import re
from collections.abc import Mapping
from typing import Any, cast

from flask import current_app
from marshmallow import ValidationError

from app.http.bodies import BODY_BYTES_AT_MOST
from app.values.json_fields import (
    ARRAY_EXPECTED,
    OBJECT_EXPECTED,
    Check,
    NestedObject,
    StrictField,
    StrictSchema,
    check_items,
    check_json,
    check_text,
    refuse_shape,
    refuse_value,
)
from sample_resource_sandbox.api.declaring import (
    anything,
    boolean,
    choice,
    number,
    one_of,
    text,
    whole,
)
from sample_resource_sandbox.rules.rules import (
    BODIES,
    CONNECTIONS,
    DELAY_MS_AT_MOST,
    METHODS,
    PHASES,
    WITHOUT_ANSWER,
    Rule,
)

RULES_AT_MOST = 100
LIMITED_REQUESTS_AT_MOST = 1000
"""The most requests that a ``limit`` can let through in its time, because the time of each is kept."""
NAMES_AT_MOST = 20
"""The most parameters or headers in the conditions of a rule, and the most headers that it sets."""

_ANY = "`*` stands for any characters"
_HEADER_NAME = "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}"
_OF_THE_CONNECTION = frozenset(
    ("connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "date", "server")
)
"""The headers that the worker itself sets."""


def _short_text(value: Any) -> str:
    found = check_text(value)
    if not 1 <= len(found) <= 200 or not found.isascii() or not found.isprintable():
        refuse_value(found, "A text of 1 to 200 printable characters of ASCII is expected.")
    return found


def _names_check(check_value: Check, name_pattern: str, expected: str) -> Check:
    """Return a check for objects whose members have names that match a pattern."""
    named = re.compile(name_pattern, re.ASCII)

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            refuse_shape(OBJECT_EXPECTED)
        members = cast("dict[str, Any]", value)
        if not 1 <= len(members) <= NAMES_AT_MOST:
            refuse_value(len(members), f"1 to {NAMES_AT_MOST} names are expected.")
        refused: dict[str, Any] = {}
        for name, each in members.items():
            try:
                if named.fullmatch(name) is None:
                    refuse_shape(expected)
                check_value(each)
            except ValidationError as error:
                refused[name] = error.messages
        if refused:
            raise ValidationError(cast(Any, refused))
        return members

    return check


def _check_message(value: Any) -> str:
    found = check_text(value)
    if len(found) > 2000:
        refuse_value(found, "A text of at most 2000 characters is expected.")
    return found


def _check_wanted(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        return check_items(value or refuse_shape("At least one value is expected."), _check_message)
    if not isinstance(value, str):
        refuse_shape("A text, an array of texts, true (it is there) or false (it is not) is expected.")
    return _check_message(value)


def _wanted(meaning: str, name_pattern: str, expected: str) -> StrictField:
    texts = {"type": "array", "minItems": 1, "items": {"type": "string"}}
    return anything(
        _names_check(_check_wanted, name_pattern, expected),
        OBJECT_EXPECTED,
        f"{meaning}, each with a value or several that it has; {_ANY}; true: it is there, false: it is not",
        type="object",
        minProperties=1,
        maxProperties=NAMES_AT_MOST,
        additionalProperties={"oneOf": [{"type": "string"}, texts, {"type": "boolean"}]},
    )


def _check_operations(value: Any) -> Any:
    known = one_of(*sorted(current_app.extensions["extension"].parts.operations))
    if not isinstance(value, list):
        return known(value)
    return check_items(value or refuse_shape("At least one operationId is expected."), known)


class MatchSchema(StrictSchema):
    """All of its members have to hold."""

    operationId = anything(
        _check_operations, "An operationId or several are expected.",
        "an operation or several; those for tokens have to be named: getToken",
        type=["string", "array"], items={"type": "string"},
    )  # fmt: skip
    method = choice("of the request", *METHODS)
    path = text(f"the raw path below the project, with its slash; {_ANY}")
    query = _wanted(
        "parameters of the query string, decoded", r"[^\x00]{1,200}", "A name of 1 to 200 characters is expected."
    )
    header = _wanted("headers of the request", _HEADER_NAME, "The name of a header is expected.")
    body = anything(
        check_json,
        "JSON is expected.",
        f"a text: the whole of it; {_ANY}. Any other value: JSON that it contains, each member of an object and each"
        " item of an array somewhere",
    )

    def load(self, data: Any) -> Any:
        """Refuse a condition on the body that is ``null``. In other members it counts as absent, but here it would be
        ambiguous."""
        if isinstance(data, dict) and cast("dict[str, Any]", data).get("body", "") is None:
            raise ValidationError({"body": ['JSON is expected, and not null; no body is "".']})
        return super().load(data)


class TimesSchema(StrictSchema):
    """Which of the requests that match are due: of those behind `after`, the `first`."""

    first = whole("so many", 1, 2**53)
    after = whole("behind so many", 0, 2**53)

    def make(self, data: dict[str, Any]) -> dict[str, Any]:
        """Refuse an object without an effect."""
        return data or refuse_shape("At least one of first and after is expected.")


class LimitSchema(StrictSchema):
    """More requests in this time are 429."""

    requests = whole("so many pass", 1, LIMITED_REQUESTS_AT_MOST, required=True)
    perSeconds = number("in this time", 0.001, 3600, required=True)


def _check_header_value(value: Any) -> str:
    found = check_text(value)
    if len(found) > 2000 or not all(" " <= each <= "~" or each == "\t" for each in found):
        refuse_value(found, "A text of at most 2000 printable characters of ASCII is expected.")
    return found


_set_headers = _names_check(_check_header_value, _HEADER_NAME, "The name of a header is expected.")


def _check_headers(value: Any) -> dict[str, str]:
    headers: dict[str, str] = _set_headers(value)
    for name in headers:
        if name.lower() in _OF_THE_CONNECTION:
            raise ValidationError({name: ["The service sets this header itself."]})
    return headers


class OwnBodySchema(StrictSchema):
    """A body of one's own: one of `json` and `text`."""

    contentType = text("its media type", check=_check_header_value)
    json = StrictField(check_json, "", metadata={"description": "sent as it is"})
    text = text("sent as it is", at_most=BODY_BYTES_AT_MOST)

    def make(self, data: dict[str, Any]) -> dict[str, Any]:
        """Refuse two bodies, and no body."""
        if len({"json", "text"} & data.keys()) != 1:
            refuse_shape("One of json and text is expected.")
        return data


_own_body = OwnBodySchema()


def _check_body(value: Any) -> Any:
    return _own_body.load(cast("dict[str, Any]", value)) if isinstance(value, dict) else one_of(*BODIES)(value)


def _nested(schema: type[StrictSchema], **shown: Any) -> NestedObject:
    return NestedObject(schema, metadata={"description": " ".join((schema.__doc__ or "").split()), **shown})


class RuleSchema(StrictSchema):
    """An order to the sandbox: which requests, when, and what is done to their answers."""

    name = text("what answers and logs call it", check=_short_text, examples=["busy twice"])
    match = _nested(MatchSchema, examples=[{"method": "POST", "path": "/resource"}])
    times = _nested(TimesSchema, examples=[{"first": 2}])
    phase = choice(
        "after: the request is carried out, and then its answer is replaced or lost", *PHASES,
        schema={"examples": ["after"]},
    )  # fmt: skip
    status = whole("of the answer, in the platform's envelope unless `body` says otherwise", 200, 599, examples=[503])
    code = text(
        "of the error, in place of the usual one of its status", check=_short_text, examples=["ServiceUnavailable"]
    )
    message = text("of the error", examples=["Try again later."])
    retryAfter = whole("seconds: the header Retry-After", 0, 86_400, examples=[1])
    headers = anything(
        _check_headers, OBJECT_EXPECTED, "headers of the answer, in place of those with these names",
        type="object", maxProperties=NAMES_AT_MOST, additionalProperties={"type": "string"},
        examples=[{"Warning": '199 - "ordered"'}],
    )  # fmt: skip
    delayMs = whole(
        "the wait before the answer; for stall, how long it is silent", 0, DELAY_MS_AT_MOST, examples=[1500]
    )
    connection = choice(
        "what happens in place of the whole answer: nothing is said, the connection is reset, half of the body,"
        " silence after the head, or no HTTP",
        *CONNECTIONS,
        schema={"examples": ["close"]},
    )
    body = anything(
        _check_body, "A body is expected.", "how the body is altered, or a body of one's own",
        oneOf=[{"type": "string", "enum": list(BODIES)}, {"$ref": "#/components/schemas/OwnBody"}],
        examples=["unknownFields"],
    )  # fmt: skip
    limit = _nested(LimitSchema, examples=[{"requests": 10, "perSeconds": 1}])
    expireTokens = boolean(
        "the token of the request, and all that were issued before, are invalid from now on", examples=[True]
    )
    conflict = boolean("another writer changes the resource just before a write to it", examples=[True])

    def make(self, data: dict[str, Any]) -> dict[str, Any]:
        """Refuse a rule whose members contradict one another."""
        faults = _contradictions(data)
        if faults:
            raise ValidationError(cast(Any, faults))
        return data


_EFFECTS = ("status", "headers", "delayMs", "connection", "body", "limit", "expireTokens", "conflict")


def _contradictions(rule: Mapping[str, Any]) -> dict[str | None, list[str]]:
    """The contradictions between the members of a rule, by the refused member; None for the rule as a whole."""
    found: dict[str | None, list[str]] = {}
    alone = [name for name in ("limit", "expireTokens") if rule.get(name)]
    for name in alone:
        others = [other for other in ("status", "code", "retryAfter", "connection", "body") if other in rule]
        if others or len(alone) > 1:
            other = others[0] if others else next(each for each in alone if each != name)
            found[name] = [f"It is an answer of its own, and {other} is another one."]
        elif rule.get("phase") == "after":
            found["phase"] = [f"{name} acts before a request is carried out."]
    has_own_body = isinstance(rule.get("body"), dict)
    if rule.get("conflict"):
        answer = next((name for name in ("status", *alone) if rule.get(name)), None)
        answer = answer or ("body" if has_own_body or rule.get("body") == "html" else None)
        if rule.get("phase") == "after":
            found["phase"] = ["conflict acts before a request is carried out."]
        elif answer is not None or rule.get("connection") in WITHOUT_ANSWER:
            found["conflict"] = [f"It needs the service's own answer, and {answer or 'connection'} is another one."]
    for name in ("code", "message", "retryAfter"):
        if name in rule and "status" not in rule and not (name == "message" and alone):
            found[name] = ["It needs a status."]
    for name in ("code", "message"):
        if name in rule and (has_own_body or rule.get("status", 400) < 400):
            found[name] = ["Only an error in the platform's envelope has it."]
    if rule.get("connection") in WITHOUT_ANSWER:
        for name in ("status", "body", "headers"):
            if name in rule:
                found[name] = [f"With connection {rule['connection']} there is no answer."]
    if has_own_body and rule.get("status") in (204, 304):
        found["body"] = [f"An answer with status {rule['status']} has no body."]
    if not any(rule.get(name) for name in _EFFECTS):
        found[None] = [f"The rule does nothing: one of {', '.join(_EFFECTS)} is expected."]
    return found


_rule = RuleSchema()


def _check_rules(value: Any) -> list[Rule]:
    if not isinstance(value, list):
        refuse_shape(ARRAY_EXPECTED)
    given = cast("list[Any]", value)
    if len(given) > RULES_AT_MOST:
        refuse_value(len(given), f"At most {RULES_AT_MOST} rules are expected.")
    return [Rule(number, rule) for number, rule in enumerate(check_items(given, _rule.load))]


class RulesSchema(StrictSchema):
    """The rules of a project, in their order."""

    rules = anything(
        _check_rules, ARRAY_EXPECTED, "in the order in which they act",
        required=True, type="array", maxItems=RULES_AT_MOST, items={"$ref": "#/components/schemas/Rule"},
    )  # fmt: skip
