"""Entries of the journal as analysis reads them: derived values when they are asked for, and what is remembered."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, cast
from urllib.parse import parse_qsl, unquote

from app.sandbox.journal.entry import BODY_BYTES_KEPT, Entry, Message
from app.sandbox.rules.matching import TOKEN_OPERATION

BODIES_OF_RESOURCES = frozenset(("createOrUpdateResource", "createOrOverwriteResource", "overwriteResource"))
"""The operations whose body is a resource."""

LISTS = frozenset(
    ("listResources", "checkResources", "listResourcesSorted", "searchResources", "searchProductProjections")
)
"""The operations that take conditions and paging."""

WRITES_BY_ID = frozenset(("updateResourceById", "deleteResourceById"))

TROUBLES = ("401", "409", "429", "503", "lost")
"""What a client should recover from: statuses, and answers that it did not get whole."""

REFUSALS = (400, 403, 405, 413, 414, 415)
"""Statuses that the same request gets again."""

_LOST_BY = frozenset(("close", "reset", "garbage", "truncate", "stall"))
"""What a rule does to a connection so that the client has no whole answer."""

_MADE_UP = frozenset(("status", "prefer", "limit", "expireTokens", "body"))
"""What is done on order by which the status of an answer is not that of the service."""

_CHANGING = frozenset(("x-correlation-id", "traceparent", "tracestate", "date", "content-length"))
"""Headers that differ between a request and its repetition."""

_PROXIES = frozenset(("via", "forwarded", "x-forwarded-for", "x-real-ip"))
"""Headers that proxies add."""

_REMEMBERED_CHARACTERS = 200
"""Of a version that is a text: a longer one is not remembered."""

_BACKLOG_S = 0.02
"""A connection that is accepted so soon after others were waiting may have been one of them."""


@dataclass(slots=True, kw_only=True)
class Past:
    """What is remembered of a request: an entry without its texts."""

    number: int
    operation: str | None
    method: str
    path: str
    call: bytes
    aim: bytes
    headers: bytes | None
    """A hash of them; None unless the request was refused for what it is."""
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
    token: str | None
    authorization: str
    connection: int | None
    keeps_connection: bool
    ids: tuple[str, ...]
    """By which a client can look for what a lost write has done: those that it sent, or was told."""
    key: str | None
    pending: Mapping[int, int]
    had_backlog: bool
    in_row: int = 1
    """The same request was refused so many times in a row."""


@dataclass(frozen=True)
class Look:
    """An entry, looked at."""

    entry: Entry

    @property
    def number(self) -> int:
        return self.entry.number

    @property
    def operation(self) -> str | None:
        return self.entry.operation

    @property
    def method(self) -> str:
        return self.entry.method

    @property
    def target(self) -> str:
        return self.entry.target

    @property
    def status(self) -> int | None:
        return self.entry.status

    @property
    def began(self) -> float:
        return self.entry.arrived_at

    def is_reaction_to(self, before: Past) -> bool:
        """Whether the client may have sent this because of what became of another request."""
        connection = self.entry.connection
        if connection is not None and connection[0] in before.pending:
            return before.pending[connection[0]] != connection[1]  # it had arrived before the answer was sent
        waited = before.had_backlog and self.is_first_on_connection
        if waited and (self.entry.opened_at or self.began) - before.ended < _BACKLOG_S:
            return False
        return self.began > (before.began if before.is_lost else before.answered)

    def past(self) -> Past:
        """What is remembered of it."""
        version = self.version
        ids, key = self.named if self.is_lost and self.method not in ("GET", "HEAD") else ((), None)
        return Past(
            number=self.number,
            operation=self.operation,
            method=self.method,
            path=self.path,
            call=self.call,
            aim=self.aim,
            headers=self.header_hash if self.status in REFUSALS else None,
            status=self.status,
            began=self.began,
            answered=self.entry.answered_at,
            ended=self.entry.ended_at,
            version=None if isinstance(version, str) and len(version) > _REMEMBERED_CHARACTERS else version,
            trouble=self.trouble,
            is_lost=self.is_lost,
            is_ordered=self.is_ordered,
            was_carried_out=self.was_carried_out,
            retry_after=self.retry_after,
            token=self.token,
            authorization=self.headers.get("authorization", ""),
            connection=self.connection,
            keeps_connection=self.keeps_connection,
            ids=ids,
            key=key,
            pending=self.entry.pending,
            had_backlog=self.entry.had_backlog,
        )

    # The request

    @cached_property
    def path(self) -> str:
        """The raw path."""
        return self.target.partition("?")[0]

    @cached_property
    def decoded_path(self) -> str:
        return unquote(self.path)

    @property
    def is_resource(self) -> bool:
        """Whether it went to a resource of the project, and not to the token endpoint."""
        return self.operation != TOKEN_OPERATION

    @property
    def project_time(self) -> float:
        """The time of the project's clock, in seconds since 1970."""
        return self.began if self.entry.project_time is None else self.entry.project_time

    @cached_property
    def headers(self) -> Mapping[str, str]:
        """The request's headers by their names in lower case; of repeated ones the last."""
        return {name.lower(): value for name, value in self.entry.request.pairs()}

    @property
    def token(self) -> str | None:
        """The id of its token, if that was valid."""
        return None if self.entry.token is None else self.entry.token.token_id

    @property
    def connection(self) -> int | None:
        """The number of its connection."""
        return None if self.entry.connection is None else self.entry.connection[0]

    @property
    def is_first_on_connection(self) -> bool:
        """Whether its connection is new."""
        return self.entry.connection is not None and self.entry.connection[1] == 1

    @property
    def keeps_connection(self) -> bool:
        """Whether its client wants to use the connection again, as HTTP/1.1 has it; False behind a proxy."""
        return (
            self.entry.http_version == "HTTP/1.1"
            and self.headers.get("connection", "").lower() in ("", "keep-alive")
            and _PROXIES.isdisjoint(self.headers)
        )

    @cached_property
    def query(self) -> tuple[tuple[str, str], ...]:
        """The parameters of the query string, decoded."""
        text = self.target.partition("?")[2]
        return tuple(parse_qsl(text, keep_blank_values=True)) if text else ()

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

    @cached_property
    def text(self) -> str:
        """The request's body; empty if it has none, is cut or is no text."""
        return _text_of(self.entry.request)

    @cached_property
    def json(self) -> Any:
        """The request's body as a value of JSON; None if it is none."""
        return _json_of(self.text)

    @property
    def version(self) -> Any:
        """The version that the request expects, in its body or its query: a number or a text; None if there is none."""
        if self.method in ("GET", "HEAD"):
            return None
        if isinstance(self.json, dict) and "version" in self.json:
            version = cast("dict[str, Any]", self.json)["version"]
            return version if isinstance(version, int | float | str) else None
        return next(iter(self.values("version")), None)

    @cached_property
    def call(self) -> bytes:
        """A hash of what makes two requests the same: method, target and body."""
        return _hash_of(self.method, self.target, self.entry.request.body)

    @cached_property
    def aim(self) -> bytes:
        """A hash of what a request is to achieve: the same for a write that is repeated with another version.

        A write aims at the resource that its path, id or key names, or at the unnamed one. A POST without a name
        and all other requests aim at what they are.
        """
        if self.operation == TOKEN_OPERATION:
            return b"token"
        if self.operation in WRITES_BY_ID:
            return _hash_of(self.method, self.path)
        if self.operation in BODIES_OF_RESOURCES:
            body = cast("dict[str, Any]", self.json) if isinstance(self.json, dict) else {}
            if self.method != "POST" or body.get("id") is not None or body.get("key") is not None:
                return _hash_of(self.method, self.path, repr(body.get("id")), repr(body.get("key")))
        return self.call

    @property
    def named(self) -> tuple[tuple[str, ...], str | None]:
        """The ids and the key by which a client can look for what a write has done."""
        body = cast("dict[str, Any]", self.json) if isinstance(self.json, dict) else {}
        if self.operation in BODIES_OF_RESOURCES:
            named, key = body.get("id"), body.get("key")
        else:
            named, key = self.path.rpartition("/")[2], None
        answer = self.answer_json
        told = answer.get("id") if isinstance(answer, dict) else None
        return tuple(each.lower() for each in (named, told) if isinstance(each, str)), (
            key if isinstance(key, str) else None
        )

    @cached_property
    def header_hash(self) -> bytes:
        """A hash of the request's headers without those that differ by themselves."""
        return _hash_of(*(f"{name}:{value}" for name, value in self.headers.items() if name not in _CHANGING))

    # The answer

    @cached_property
    def does(self) -> frozenset[str]:
        """What was done on order."""
        return frozenset(() if self.entry.rule is None else self.entry.rule["does"])

    @property
    def is_ordered(self) -> bool:
        """Whether the sandbox made the status up, so that it says nothing of what the project holds."""
        return not _MADE_UP.isdisjoint(self.does)

    @property
    def is_lost(self) -> bool:
        """Whether the client had no whole answer: nothing, a part, or it had gone."""
        return self.entry.answer is None or not _LOST_BY.isdisjoint(self.does) or self.entry.client_gone

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
    def was_carried_out(self) -> bool:
        """Whether the request may have changed something, whatever its answer says."""
        rule = self.entry.rule
        if rule is not None and not rule["carriedOut"]:
            return False
        status = self.status if rule is None or rule["replacedStatus"] is None else rule["replacedStatus"]
        return status is None or status < 400

    @property
    def retry_after(self) -> int | None:
        """The seconds of ``Retry-After``."""
        if self.status not in (429, 503) or self.entry.answer is None:
            return None
        text = next((value for name, value in self.entry.answer.pairs() if name.lower() == "retry-after"), "")
        return int(text) if re.fullmatch("[0-9]{1,9}", text, re.ASCII) else None

    @cached_property
    def answer_text(self) -> str:
        """The answer's body; empty if there is none or it is no text."""
        return "" if self.entry.answer is None else _text_of(self.entry.answer)

    @cached_property
    def answer_json(self) -> Any:
        """The answer's body as a value of JSON; None if it is none."""
        return _json_of(self.answer_text)

    @property
    def error_codes(self) -> frozenset[str]:
        """The codes of an error answer."""
        if (self.status or 0) < 400 or not isinstance(self.answer_json, dict):
            return frozenset()
        faults = cast("dict[str, Any]", self.answer_json).get("errors")
        listed = cast("list[Any]", faults) if isinstance(faults, list) else []
        return frozenset(str(cast("dict[str, Any]", each).get("code")) for each in listed if isinstance(each, dict))


def _hash_of(*parts: str | bytes) -> bytes:
    """The same for the same parts."""
    made = blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        made.update(b"%d:" % len(data))
        made.update(data)
    return made.digest()


def _text_of(message: Message) -> str:
    if not message.body or message.size is None or message.size > BODY_BYTES_KEPT:
        return ""
    try:
        return message.body.decode()
    except UnicodeDecodeError:
        return ""


def _json_of(text: str) -> Any:
    if not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no JSON; brackets within brackets without end
        return None
