"""Entries of the journal as analysis reads them: parsed once, and derived values when they are asked for."""

import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import blake2b
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl, unquote

from app.sandbox.journal.store import UNREADABLE

TOKEN_OPERATION = "getToken"  # noqa: S105 -- an operationId

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

_EARLY_S = 0.05
"""A wait that is shorter than ``Retry-After`` by no more than this is long enough: the client measures it elsewhere."""

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
    status: int | None
    began: float
    duration_ms: float
    version: Any
    trouble: str | None
    is_lost: bool
    was_carried_out: bool
    does: tuple[str, ...]
    retry_after: int | None
    user_agent: str | None
    closes: bool
    """Whether the answer says that the connection is closed."""

    @property
    def ended(self) -> float:
        """When its answer was sent, in seconds since 1970."""
        return self.began + self.duration_ms / 1000


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

    @classmethod
    def read(cls, number: int, text: str) -> "Entry":
        """An entry from the JSON text in which it is stored; a text that is none gives :data:`UNREADABLE`."""
        try:
            data = json.loads(text)
            if data.keys() < _LIKE_ANY.keys() or data["request"].keys() < _LIKE_ANY["request"].keys():
                raise ValueError("members are missing")
        except (ValueError, LookupError, AttributeError, RecursionError):
            data, text = _LIKE_ANY, UNREADABLE
        return cls({"number": number, **data}, text)

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

    @cached_property
    def began(self) -> float:
        """When the request arrived, in seconds since 1970."""
        return datetime.fromisoformat(self.data["startedAt"]).timestamp()

    @property
    def duration_ms(self) -> float:
        return self.data["durationMs"]

    @property
    def ended(self) -> float:
        """When its answer was sent, in seconds since 1970."""
        return self.began + self.duration_ms / 1000

    def past(self) -> Past:
        """What is remembered of it."""
        version, user_agent = self.version, self.user_agent
        return Past(
            self.number,
            self.status,
            self.began,
            self.duration_ms,
            None if isinstance(version, str) and len(version) > _REMEMBERED_CHARACTERS else version,
            self.trouble,
            self.is_lost,
            self.was_carried_out,
            self.does,
            self.retry_after,
            user_agent,
            self.answer_headers.get("connection", "").lower() == "close",
        )

    def follows(self, before: "Entry | Past") -> bool:
        """Whether the client may have sent this after it had the answer to another request.

        An answer is there a little before the service is done with it, and times are cut to milliseconds, so what
        began in the second half of the other request counts as later.
        """
        return self.began > before.began + before.duration_ms / 2000 - 0.001

    def came_before_retry_after(self, before: "Entry | Past") -> bool:
        """Whether another request was answered with ``Retry-After``, and this came before those seconds were over."""
        return before.retry_after is not None and self.began - before.ended + _EARLY_S < before.retry_after

    def repeats_refused_version(self, before: "Entry | Past") -> bool:
        """Whether another request was 409, and this expects the same version."""
        return before.status == 409 and self.version is not None and self.version == before.version

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
    def place(self) -> bytes:
        """A hash of method and path: the same for an update that is repeated with another version."""
        return _hash_of(self.method, self.path)

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
