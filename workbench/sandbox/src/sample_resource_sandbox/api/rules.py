"""The schema of rules as they are sent, and the checks for contradictions between their members."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from flask import current_app
from marshmallow import ValidationError

from app.http.bodies import BODY_BYTES_AT_MOST
from app.values.json_fields import (
    ARRAY_EXPECTED,
    OBJECT_EXPECTED,
    Check,
    NestedObject,
    StrictSchema,
    check_items,
    check_json,
    check_text,
    refuse_shape,
    refuse_value,
)
from sample_resource_sandbox.api.declaring import boolean, choice, field, number, one_of, ref, short, text, whole
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


def _printable(value: Any, at_least: int, at_most: int) -> str:
    found = check_text(value)
    if not at_least <= len(found) <= at_most or not found.isascii() or not found.isprintable():
        refuse_value(found, f"A text of {at_least} to {at_most} printable characters of ASCII is expected.")
    return found


_label = partial(_printable, at_least=1, at_most=200)
_header_value = partial(_printable, at_least=0, at_most=2000)


def _named(check_value: Check, name_pattern: str, expected: str) -> Check:
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


def _one_or_several(check: Check) -> Check:
    """Return a check for one value, or an array of at least one."""

    def checked(value: Any) -> Any:
        if not isinstance(value, list):
            return check(value)
        return check_items(value or refuse_shape("At least one value is expected."), check)

    return checked


_texts = _one_or_several(short)


def _check_wanted(value: Any) -> Any:
    if not isinstance(value, bool | str | list):
        refuse_shape("A text, an array of texts, true (it is there) or false (it is not) is expected.")
    return value if isinstance(value, bool) else _texts(value)


def _wanted(meaning: str, name_pattern: str, expected: str) -> Any:
    texts = {"type": "array", "minItems": 1, "items": {"type": "string"}}
    return field(
        _named(_check_wanted, name_pattern, expected),
        OBJECT_EXPECTED,
        f"{meaning}, each with a value or several that it has; {_ANY}; true: it is there, false: it is not",
        type="object",
        minProperties=1,
        maxProperties=NAMES_AT_MOST,
        additionalProperties={"oneOf": [{"type": "string"}, texts, {"type": "boolean"}]},
    )


def _check_operations(value: Any) -> Any:
    return _one_or_several(one_of(*sorted(current_app.extensions["extension"].parts.operations)))(value)


class MatchSchema(StrictSchema):
    """All of its members have to hold."""

    operationId = field(
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
    body = field(
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


_set_headers = _named(_header_value, _HEADER_NAME, "The name of a header is expected.")


def _check_headers(value: Any) -> dict[str, str]:
    headers: dict[str, str] = _set_headers(value)
    for name in headers:
        if name.lower() in _OF_THE_CONNECTION:
            raise ValidationError({name: ["The service sets this header itself."]})
    return headers


class OwnBodySchema(StrictSchema):
    """A body of one's own: one of `json` and `text`."""

    contentType = text("its media type", check=_header_value)
    json = field(check_json, "", "sent as it is")
    text = text("sent as it is", check=partial(short, at_most=BODY_BYTES_AT_MOST))

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

    name = text("what answers and logs call it", check=_label, examples=["busy twice"])
    match = _nested(MatchSchema, examples=[{"method": "POST", "path": "/resource"}])
    times = _nested(TimesSchema, examples=[{"first": 2}])
    phase = choice(
        "after: the request is carried out, and then its answer is replaced or lost", *PHASES, examples=["after"]
    )
    status = whole("of the answer, in the platform's envelope unless `body` says otherwise", 200, 599, examples=[503])
    code = text("of the error, in place of the usual one of its status", check=_label, examples=["ServiceUnavailable"])
    message = text("of the error", examples=["Try again later."])
    retryAfter = whole("seconds: the header Retry-After", 0, 86_400, examples=[1])
    headers = field(
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
        examples=["close"],
    )
    body = field(
        _check_body, "A body is expected.", "how the body is altered, or a body of one's own",
        oneOf=[{"type": "string", "enum": list(BODIES)}, ref("OwnBody")], examples=["unknownFields"],
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
    has_own_body, is_silent = isinstance(rule.get("body"), dict), rule.get("connection") in WITHOUT_ANSWER
    for name in ("limit", "expireTokens"):
        others = (each for each in ("status", "code", "retryAfter", "connection", "body", "limit") if each != name)
        other = next((each for each in others if rule.get(each) is not None), None)
        if rule.get(name) and other is not None:
            found[name] = [f"It is an answer of its own, and {other} is another one."]
    early = next((each for each in ("limit", "expireTokens", "conflict") if rule.get(each)), None)
    if early is not None and rule.get("phase") == "after":
        found["phase"] = [f"{early} acts before a request is carried out."]
    answers = [each for each in ("status", "limit", "expireTokens") if rule.get(each)]
    answers += ["body"] if has_own_body or rule.get("body") == "html" else []
    if rule.get("conflict") and (answers or is_silent):
        found["conflict"] = [f"It needs the service's own answer, and {[*answers, 'connection'][0]} is another one."]
    for name in ("code", "message", "retryAfter"):
        if name in rule and "status" not in rule and not (name == "message" and "limit" in rule):
            found[name] = ["It needs a status."]
        elif name in rule and name != "retryAfter" and (has_own_body or rule.get("status", 400) < 400):
            found[name] = ["Only an error in the platform's envelope has it."]
    for name in ("status", "body", "headers"):
        if is_silent and name in rule:
            found[name] = [f"With connection {rule['connection']} there is no answer."]
    if has_own_body and rule.get("status") in (204, 304):
        found["body"] = [f"An answer with status {rule['status']} has no body."]
    if not any(rule.get(name) for name in _EFFECTS):
        found[None] = [f"The rule does nothing: one of {', '.join(_EFFECTS)} is expected."]
    return found


_rule = RuleSchema()


def _check_rules(value: Any) -> list[Rule]:
    if isinstance(value, list) and len(cast("list[Any]", value)) > RULES_AT_MOST:
        refuse_value(len(cast("list[Any]", value)), f"At most {RULES_AT_MOST} rules are expected.")
    return [Rule(number, rule) for number, rule in enumerate(check_items(value, _rule.load))]


class RulesSchema(StrictSchema):
    """The rules of a project, in their order."""

    rules = field(
        _check_rules, ARRAY_EXPECTED, "in the order in which they act",
        required=True, type="array", maxItems=RULES_AT_MOST, items=ref("Rule"),
    )  # fmt: skip
