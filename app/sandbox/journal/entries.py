"""Entries of the journal as analysis reads them: parsed once, and derived values when they are asked for."""

import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import blake2b
from math import inf
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl, unquote

from app.sandbox.journal.store import UNREADABLE, Kept
from app.sandbox.rules.matching import TOKEN_OPERATION

BODIES_OF_RESOURCES = frozenset(("createOrUpdateResource", "createOrOverwriteResource", "overwriteResource"))
"""The operations whose body is a resource."""

LISTS = frozenset(
    ("listResources", "checkResources", "listResourcesSorted", "searchResources", "searchProductProjections")
)
"""The operations that take conditions and paging."""

TROUBLES = ("401", "409", "429", "503", "lost")
"""What a client should recover from: statuses, and answers that it did not get whole."""

_LOST_BY = frozenset(("close", "reset", "garbage", "truncate", "stall"))
"""What a rule does to a connection so that the client has no whole answer."""

_MADE_UP = frozenset(("status", "prefer", "limit", "expireTokens", "body"))
"""What is done on order by which the status of an answer is not that of the service."""

WRITES_BY_ID = frozenset(("updateResourceById", "deleteResourceById"))

_CHANGING = frozenset(("x-correlation-id", "traceparent", "tracestate", "date", "content-length"))
"""Headers that differ between a request and its repetition."""

_PROXIES = frozenset(("via", "forwarded", "x-forwarded-for", "x-real-ip"))
"""Headers that proxies add."""

_LIKE_ANY: Mapping[str, Any] = json.loads(UNREADABLE)
"""All members of an entry."""

_log = logging.getLogger("app.sandbox")

Looked = TypeVar("Looked")


def tolerantly(look: Callable[[], Looked], otherwise: Looked, entry: "Entry") -> Looked:
    """Look at an entry. A look that fails finds nothing, and hides no other entry.

    A client sends what it likes, and who reads a journal wants to see just that.
    """
    try:
        return look()
    except Exception as error:  # noqa: BLE001 -- whatever it is, the other entries are to be shown
        _log.warning("a look at an entry failed", extra={"fields": {"request": entry.number, "reason": repr(error)}})
        return otherwise


@dataclass(frozen=True, slots=True)
class Past:
    """What later requests are compared with: an entry without its texts, so that thousands take little memory."""

    number: int
    call: bytes
    aim: bytes
    headers: bytes
    status: int | None
    began: float
    answered: float
    ended: float
    version: Any
    trouble: str | None
    is_lost: bool
    is_ordered: bool
    was_carried_out: bool
    retry_after: int | None
    user_agent: str | None
    token: str | None
    authorization: str | None
    connection: int | None
    keeps_connection: bool


_REMEMBERED_CHARACTERS = 200
"""Of a User-Agent, and of a version that is a text: a longer one is not remembered."""


@dataclass(frozen=True)
class Entry:
    """A request of the journal with its answer.

    :param data: the entry, as ``GET .../requests/{number}`` answers it.
    :param stored: the JSON text in which it is stored, without its number.
    """

    data: Mapping[str, Any]
    stored: str = ""
    began: float = 0.0
    """When the request arrived, in seconds since 1970."""
    ended: float = 0.0
    """When it ended, likewise: its answer had been sent, or its connection had ended. Infinite: it is under way."""

    @classmethod
    def read(cls, kept: Kept, text: str) -> "Entry":
        """An entry from the JSON text in which it is stored; a text that is none gives :data:`UNREADABLE`."""
        try:
            data = json.loads(text)
            if data.keys() < _LIKE_ANY.keys() or data["request"].keys() < _LIKE_ANY["request"].keys():
                raise ValueError("members are missing")
        except (ValueError, LookupError, AttributeError, RecursionError):
            data, text = _LIKE_ANY, UNREADABLE
        ended = inf if kept.ended_us is None else kept.ended_us / 1e6
        return cls({"number": kept.number, **data}, text, kept.position[0] / 1e6, ended)

    @property
    def number(self) -> int:
        return self.data["number"]

    @property
    def client(self) -> str | None:
        """The id of the API client; None if the request had no valid token."""
        return self.data["clientId"]

    @cached_property
    def operation(self) -> str | None:
        """The operationId; None for an unknown URL or method."""
        return self.data["operationId"]

    @property
    def method(self) -> str:
        return self.data["request"]["method"]

    @property
    def target(self) -> str:
        """The target as it was sent."""
        return self.data["request"]["target"]

    @cached_property
    def path(self) -> str:
        """The raw path."""
        return self.target.partition("?")[0]

    @property
    def is_under_way(self) -> bool:
        """Whether it had not ended when the journal was read."""
        return self.ended == inf

    @property
    def answered(self) -> float:
        """When its answer was decided, in seconds since 1970: its client had no part of it before."""
        after_ms = self.data["answeredMs"]
        return self.ended if after_ms is None else self.began + after_ms / 1000

    def past(self) -> Past:
        """What is remembered of it."""
        version = self.version
        return Past(
            number=self.number,
            call=self.call,
            aim=self.aim,
            headers=self.header_hash,
            status=self.status,
            began=self.began,
            answered=self.answered,
            ended=self.ended,
            version=None if isinstance(version, str) and len(version) > _REMEMBERED_CHARACTERS else version,
            trouble=self.trouble,
            is_lost=self.is_lost,
            is_ordered=self.is_ordered,
            was_carried_out=self.was_carried_out,
            retry_after=self.retry_after,
            user_agent=self.user_agent,
            token=self.token,
            authorization=self.headers.get("authorization", "")[:_REMEMBERED_CHARACTERS],
            connection=self.connection,
            keeps_connection=self.keeps_connection,
        )

    def may_follow(self, before: "Entry | Past") -> bool:
        """Whether the client may have sent this because of what became of another request.

        It may give a request up at any time, and other answers it has at the earliest when they are decided.
        """
        return self.began > (before.began if before.is_lost else before.answered)

    @property
    def project_time(self) -> float:
        """The time of the project's clock, in seconds since 1970."""
        text = self.data["projectTime"]
        return self.began if text is None else datetime.fromisoformat(text).timestamp()

    # The request

    @cached_property
    def headers(self) -> Mapping[str, str]:
        """The request's headers by their names in lower case; of repeated ones the last."""
        return {name.lower(): value for name, value in self.data["request"]["headers"]}

    @property
    def user_agent(self) -> str | None:
        """The beginning of the User-Agent."""
        text = self.headers.get("user-agent")
        return None if text is None else text[:_REMEMBERED_CHARACTERS]

    @property
    def token(self) -> str | None:
        """The id of its token, if that was valid."""
        token = self.data["token"]
        return None if token is None else token["id"]

    @property
    def connection(self) -> int | None:
        """The number of its connection."""
        connection = self.data["connection"]
        return None if connection is None else connection["number"]

    @property
    def connected(self) -> float:
        """When its connection was accepted, in seconds since 1970."""
        age_ms = (self.data["connection"] or {}).get("ageMs")
        return self.began if age_ms is None else self.began - age_ms / 1000

    @property
    def is_first_on_connection(self) -> bool:
        """Whether its connection is new."""
        connection = self.data["connection"]
        return connection is not None and connection["request"] == 1

    @property
    def keeps_connection(self) -> bool:
        """Whether its client wants to use the connection again, as HTTP/1.1 has it; False behind a proxy."""
        return (
            self.data["request"]["httpVersion"] == "HTTP/1.1"
            and self.headers.get("connection", "").lower() in ("", "keep-alive")
            and _PROXIES.isdisjoint(self.headers)
        )

    @cached_property
    def query(self) -> tuple[tuple[str, str], ...]:
        """The parameters of the query string, decoded."""
        return tuple(parse_qsl(self.target.partition("?")[2], keep_blank_values=True))

    @cached_property
    def form(self) -> tuple[tuple[str, str], ...]:
        """The fields of a form."""
        if not self.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            return ()
        return tuple(parse_qsl(self.text, keep_blank_values=True))

    @cached_property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Parameters of the query string, then fields of the form."""
        return self.query + self.form

    def values(self, name: str) -> list[str]:
        """The values of a parameter."""
        return [value for each, value in self.parameters if each == name]

    @property
    def has_body(self) -> bool:
        return self.data["request"]["body"] is not None

    @cached_property
    def text(self) -> str:
        """The request's body; empty if it has none or is no text."""
        body = self.data["request"]["body"]
        return "" if body is None else body.get("text", "")

    @cached_property
    def json(self) -> Any:
        """The request's body as a value of JSON; None if it is none."""
        return _json_of(self.text)

    @property
    def version(self) -> Any:
        """The version that the request expects, in its body or its query: a number or a text; None if there is none."""
        if isinstance(self.json, dict) and "version" in self.json:
            version = cast("dict[str, Any]", self.json)["version"]
            return version if isinstance(version, int | float | str) else None
        return next(iter(self.values("version")), None)

    @cached_property
    def call(self) -> bytes:
        """A hash of what makes two requests the same: method, target and body."""
        return _hash_of(self.method, self.target, self.text)

    @cached_property
    def aim(self) -> bytes:
        """A hash of what a request is to achieve: the same for a write that is repeated with another version.

        A write aims at the resource that its path, id or key names, or at the unnamed one. A POST without a name
        and all other requests aim at what they are.
        """
        if self.operation == TOKEN_OPERATION:
            return _hash_of(TOKEN_OPERATION)
        if self.operation in WRITES_BY_ID:
            return _hash_of(self.method, self.path)
        if self.operation in BODIES_OF_RESOURCES and (self.named != (None, None) or self.method != "POST"):
            return _hash_of(self.method, self.path, *map(repr, self.named))
        return self.call

    @property
    def named(self) -> tuple[Any, Any]:
        """The id and the key in a body that is a resource."""
        body = cast("dict[str, Any]", self.json) if isinstance(self.json, dict) else {}
        return body.get("id"), body.get("key")

    @cached_property
    def header_hash(self) -> bytes:
        """A hash of the request's headers without those that differ by themselves."""
        return _hash_of(*(f"{name}:{value}" for name, value in self.headers.items() if name not in _CHANGING))

    # The answer

    @property
    def answer(self) -> Mapping[str, Any] | None:
        return self.data["response"]

    @cached_property
    def status(self) -> int | None:
        """The status; None if nothing was answered."""
        return None if self.answer is None else self.answer["status"]

    @property
    def does(self) -> tuple[str, ...]:
        """What was done on order."""
        return () if self.data["rule"] is None else tuple(self.data["rule"]["does"])

    @property
    def is_ordered(self) -> bool:
        """Whether the sandbox made the status up, so that it says nothing of what the project holds."""
        return not _MADE_UP.isdisjoint(self.does)

    @property
    def is_lost(self) -> bool:
        """Whether the client had no whole answer: nothing, a part, or it had gone."""
        return self.answer is None or not _LOST_BY.isdisjoint(self.does) or self.client_gone

    @property
    def trouble(self) -> str | None:
        """What went wrong, in a word of :data:`TROUBLES`; None: nothing of them."""
        if self.is_lost:
            return "lost"
        # A token endpoint that refuses credentials is no trouble that a client could recover from.
        if self.operation == TOKEN_OPERATION and self.status not in (429, 503):
            return None
        return str(self.status) if str(self.status) in TROUBLES else None

    @property
    def client_gone(self) -> bool:
        """Whether the client had closed the connection before the answer was sent."""
        return self.data["clientGone"]

    @property
    def was_carried_out(self) -> bool:
        """Whether the request may have changed something, whatever its answer says."""
        rule = self.data["rule"]
        if rule is not None and not rule["carriedOut"]:
            return False
        status = self.status if rule is None or rule["replacedStatus"] is None else rule["replacedStatus"]
        return status is None or status < 400

    @cached_property
    def answer_headers(self) -> Mapping[str, str]:
        """The answer's headers by their names in lower case."""
        return {} if self.answer is None else {name.lower(): value for name, value in self.answer["headers"]}

    @property
    def retry_after(self) -> int | None:
        """The seconds of ``Retry-After``."""
        text = self.answer_headers.get("retry-after", "")
        return int(text) if re.fullmatch("[0-9]{1,9}", text, re.ASCII) else None

    @property
    def answer_text(self) -> str:
        """The answer's body; empty if there is none or it is no text."""
        body = None if self.answer is None else self.answer["body"]
        return "" if body is None else body.get("text", "")

    @cached_property
    def answer_json(self) -> Any:
        """The answer's body as a value of JSON; None if it is none."""
        return _json_of(self.answer_text)

    @property
    def error_codes(self) -> frozenset[str]:
        """The codes of an error answer."""
        if not isinstance(self.answer_json, dict):
            return frozenset()
        faults = cast("dict[str, Any]", self.answer_json).get("errors")
        listed = cast("list[Any]", faults) if isinstance(faults, list) else []
        return frozenset(str(cast("dict[str, Any]", each).get("code")) for each in listed if isinstance(each, dict))

    # Where it went

    @property
    def is_resource(self) -> bool:
        """Whether it went to a resource of the project, and not to the token endpoint."""
        return self.operation != TOKEN_OPERATION

    @cached_property
    def decoded_path(self) -> str:
        return unquote(self.path)


def _hash_of(*texts: str) -> bytes:
    """The same for the same texts. JSON may hold lone surrogates, which UTF-8 has not."""
    return blake2b(json.dumps(texts).encode(), digest_size=16).digest()


def _json_of(text: str) -> Any:
    if not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no JSON; brackets within brackets without end
        return None
