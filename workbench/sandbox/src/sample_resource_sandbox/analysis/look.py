"""A view of a journal entry for the analysis. It derives values when they are needed."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, cast
from urllib.parse import parse_qsl

from sample_resource_sandbox.journal.entry import Entry, Message
from sample_resource_sandbox.rules.matching import TOKEN_OPERATION

BODIES_OF_RESOURCES = frozenset(("createOrUpdateResource", "createOrOverwriteResource", "overwriteResource"))
"""The operations whose body is a resource."""

OVERWRITES = frozenset(("createOrOverwriteResource", "overwriteResource"))
"""The operations whose body replaces the whole content of a resource."""

LISTS = frozenset(
    ("listResources", "checkResources", "listResourcesSorted", "searchResources", "searchProductProjections")
)
"""The operations with conditions and paging."""

WRITES_BY_ID = frozenset(("updateResourceById", "deleteResourceById"))

WRITES = BODIES_OF_RESOURCES | WRITES_BY_ID

TROUBLES = ("401", "409", "412", "429", "503", "lost")
"""The troubles from which a client should recover: statuses, and answers that it did not get whole."""

_LOST_BY = frozenset(("close", "reset", "garbage", "truncate", "stall", "truncatedJson", "empty"))
"""The effects of rules after which the client does not get the whole answer."""

_MADE_UP = frozenset(("status", "limit", "expireTokens", "body", "html"))
"""The effects of rules after which the status of an answer is not that of the service."""

_NO_CONTENT = frozenset(("version", "createdAt", "createdBy", "lastModifiedAt", "lastModifiedBy"))
"""The members of a resource that a write does not change by what it sends."""

_CHANGING = frozenset(("x-correlation-id", "traceparent", "tracestate", "date", "content-length"))
"""The headers that may differ between a request and its repetition."""

_PROXIES = frozenset(("via", "forwarded", "x-forwarded-for", "x-real-ip"))
"""The headers that proxies add."""

FIELDS_AT_MOST = 1000
"""The most fields of a form that the service parses."""

_LONG = 16 * 1024
"""The bytes of an answer beyond which some clients close the connection instead of reading the rest."""

_TEXT_AT_MOST = 200
"""The most characters of a text that is remembered."""

_TEXTS = ("target", "path", "_query", "parameters", "text", "json", "members", "answer_text", "answer_json")
"""The members of a :class:`Look` that may be long."""


class Look:
    """An entry with derived values. It is kept as long as later requests of the client may depend on it.

    :param written: the texts that its client has written to resources.
    """

    def __init__(self, entry: Entry, written: Collection[str] = ()) -> None:
        self.entry = entry
        self.written = written
        self.number = entry.number
        self.operation = entry.operation
        self.method = entry.method
        self.target = entry.target
        self.began = entry.arrived_at
        self.path, _, self._query = entry.target.partition("?")
        """The raw path of the target."""
        is_direct = _PROXIES.isdisjoint(self.headers)
        self.connection, self._request = entry.connection if entry.connection and is_direct else (None, 0)
        """The number of the client's connection; None if it is not known, as behind a proxy."""
        # The answer
        self.status = entry.status
        """The status of the answer; None if there was no answer."""
        self.does: Sequence[str] = () if entry.rule is None else entry.rule["does"]
        """The effects of rules on the request."""
        self.is_lost = entry.answer is None or entry.client_gone or not _LOST_BY.isdisjoint(self.does)
        """Whether the client did not get the whole answer: it got none or a part, or had closed the connection."""
        self.has_failed = self.is_lost or (self.status or 0) >= 400
        self.trouble = self._trouble() if self.has_failed else None
        """The trouble of the request: a word of :data:`TROUBLES`, or ``other`` for another server error, 408 and 425,
        which reports leave out. None for a success, and for an error that a retry would get again."""

    def _trouble(self) -> str | None:
        if self.is_lost:
            return "lost"
        # A client cannot recover from refused credentials, so these are no trouble.
        if self.operation == TOKEN_OPERATION and self.status not in (429, 503):
            return None
        if str(self.status) in TROUBLES:
            return str(self.status)
        return "other" if (self.status or 0) >= 500 or self.status in (408, 425) else None

    @property
    def is_refusal(self) -> bool:
        """Whether the status says that the request itself is wrong. A 404 may be repeated for a read, because a client
        may wait for a resource, and for a DELETE, because the resource is gone as it should be."""
        status = self.status or 0
        others = (401, 404, 409, 412, 429) if self.method in ("GET", "HEAD", "DELETE") else (401, 409, 412, 429)
        return 400 <= status < 500 and status not in others

    def drop_texts(self) -> None:
        """Drop the long texts, after computing the values with which later requests are compared. These cannot be
        computed later, because the journal cuts bodies and drops entries."""
        _ = self.call, self.aim, self.version, self.names, self.replacement
        _ = self.authorization, self.header_hash, self.retry_after, self.if_match
        for text in _TEXTS:
            self.__dict__.pop(text, None)

    # The request

    @property
    def project_time(self) -> float:
        """The time of the project's clock, in seconds since 1970."""
        return self.began if self.entry.project_time is None else self.entry.project_time

    @property
    def headers(self) -> Mapping[str, str]:
        """The request's headers by their names in lower case. The last of repeated headers counts."""
        return self.entry.request.by_name()

    @cached_property
    def authorization(self) -> str:
        """The header Authorization; empty if there is none."""
        return self.headers.get("authorization", "")

    @property
    def is_first_on_connection(self) -> bool:
        """Whether the request is the first on its connection."""
        return self.connection is not None and self._request == 1

    @property
    def keeps_connection(self) -> bool:
        """Whether the client wants to reuse the connection, which is the default of HTTP/1.1."""
        header = self.headers.get("connection", "").lower()
        return self.entry.http_version == "HTTP/1.1" and header in ("", "keep-alive")

    @property
    def form(self) -> tuple[tuple[str, str], ...]:
        """The fields of the body, if it is a form. None of a form with more fields than the service parses."""
        is_form = self.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
        is_parsed = is_form and self.text.count("&") < FIELDS_AT_MOST
        return tuple(parse_qsl(self.text, keep_blank_values=True)) if is_parsed else ()

    @cached_property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The parameters of the query string, then the fields of the form."""
        query = parse_qsl(self._query, keep_blank_values=True) if self._query else ()
        return (*query, *self.form) if self.entry.request.body else tuple(query)

    def values(self, name: str) -> list[str]:
        """The values of a parameter."""
        return [value for each, value in self.parameters if each == name]

    @cached_property
    def text(self) -> str:
        """The request's body as text; empty if there is none, or if it was not read or is no text."""
        return _text_of(self.entry.request)

    @cached_property
    def json(self) -> Any:
        """The request's body as a JSON value; None if it is no JSON."""
        return _json_of(self.text)

    @cached_property
    def members(self) -> dict[str, Any]:
        """The members of the request's body that are not ``null``; none if the body is no JSON object."""
        members = cast("dict[str, Any]", self.json) if isinstance(self.json, dict) else {}
        return {name: value for name, value in members.items() if value is not None}

    def texts(self) -> Iterator[str]:
        """Yield the texts that the request writes to a resource."""
        if self.operation in WRITES:
            wrapped, actions = self.members.get("objectTypeProperty"), self.members.get("actions")
            listed = cast("dict[str, Any]", wrapped).get("arrayOfStringExample") if isinstance(wrapped, dict) else None
            found = [self.members.get("key"), *(cast("list[Any]", listed) if isinstance(listed, list) else ())]
            for each in (self.members, *(cast("list[Any]", actions) if isinstance(actions, list) else ())):
                found.append(cast("dict[str, Any]", each).get("someProperty") if isinstance(each, dict) else None)
            yield from (text for text in found if isinstance(text, str) and len(text) <= _TEXT_AT_MOST)

    @cached_property
    def version(self) -> Any:
        """The version that the request expects, by body or query: a number or a short text; None if there is none."""
        if self.method in ("GET", "HEAD"):
            return None
        version = self.members["version"] if "version" in self.members else next(iter(self.values("version")), None)
        is_short = isinstance(version, str) and len(version) <= _TEXT_AT_MOST
        return version if is_short or isinstance(version, int | float) else None

    @cached_property
    def call(self) -> bytes:
        """A hash of method, target and body, which is equal for equal requests."""
        body = self.entry.request.body if self.json is None else json.dumps(self.json, sort_keys=True)
        if self.entry.request.size is None:
            body = self.headers.get("content-length", "")  # the body was not read: no more is known of it
        return _hash_of(self.method, self.target, body)

    @cached_property
    def replacement(self) -> bytes | None:
        """A hash of the whole content that the request gives to a resource, with any expected version; None for a
        request that changes a part or nothing."""
        if self.operation not in OVERWRITES:
            return None
        content = {name: value for name, value in self.members.items() if name not in _NO_CONTENT}
        return _hash_of(self.method, self.path, json.dumps(content, sort_keys=True))

    @cached_property
    def aim(self) -> bytes:
        """A hash of the aim of a request, which is equal for a write that is repeated with another version.

        The aim of a write is the resource that its path, id or key names, or the client's youngest one without a key.
        A POST without a name, and any other request, has only itself as its aim.
        """
        if self.operation == TOKEN_OPERATION:
            return b"token"
        if self.operation in WRITES_BY_ID:
            return _hash_of(self.method, self.path)
        if self.operation in BODIES_OF_RESOURCES:
            body = self.members
            if self.method != "POST" or body.get("id") is not None or body.get("key") is not None:
                return _hash_of(self.method, self.path, repr(body.get("id")), repr(body.get("key")))
        return self.call

    @cached_property
    def names(self) -> tuple[tuple[str, str], ...]:
        """The ids and the key by which a client can read the result of a write, as it was sent and answered."""
        if self.method in ("GET", "HEAD"):
            return ()
        body = self.members if self.operation in BODIES_OF_RESOURCES else {"id": self.path.rpartition("/")[2]}
        answer = None if self.operation in LISTS else self.answer_json  # a page may be long
        told = cast("dict[str, Any]", answer).get("id") if isinstance(answer, dict) else None
        ids = [("id", each.lower()) for each in (body.get("id"), told) if isinstance(each, str)]
        key = body.get("key")
        return (*ids, ("key", key)) if isinstance(key, str) else tuple(ids)

    @cached_property
    def if_match(self) -> str:
        """The entity tag that a write expects; empty if it expects none. ``*`` expects no certain one."""
        return self.headers.get("if-match", "").replace("*", "")

    @property
    def expects_version(self) -> bool:
        """Whether a write expects a certain version of its resource."""
        return self.version is not None or self.if_match != ""

    def is_same(self, other: "Look") -> bool:
        """Whether two requests are equal, and expect the same version."""
        return (self.call, self.if_match) == (other.call, other.if_match)

    @property
    def creates(self) -> bool:
        """Whether a request creates a resource each time that it is carried out."""
        return (
            self.operation == "createOrUpdateResource"
            and isinstance(self.json, dict)
            and {"id", "key", "version"}.isdisjoint(self.members)
            and "if-match" not in self.headers
        )

    @cached_property
    def header_hash(self) -> bytes:
        """A hash of the request's headers, without those that may differ in a repetition."""
        return _hash_of(*(f"{name}:{value}" for name, value in self.headers.items() if name not in _CHANGING))

    # The answer

    @property
    def is_ordered(self) -> bool:
        """Whether a rule has made the status, so that it says nothing about the project's resources."""
        return not _MADE_UP.isdisjoint(self.does)

    @property
    def own_status(self) -> int | None:
        """The status that the service itself answered, even if the client got another one; None if it is not known."""
        rule = self.entry.rule
        if rule is None:
            return self.status
        return (rule["replacedStatus"] or self.status) if rule["carriedOut"] else None

    @property
    def was_carried_out(self) -> bool:
        """Whether the request may have changed a resource, whatever its answer says."""
        if self.entry.rule is not None and not self.entry.rule["carriedOut"]:
            return False
        return self.own_status is None or self.own_status < 400

    @cached_property
    def retry_after(self) -> float | None:
        """The seconds of ``Retry-After`` of a 429 or 503; None without them."""
        if self.status not in (429, 503) or self.entry.answer is None:
            return None
        text = self.entry.answer.by_name().get("retry-after", "")
        return int(text) if re.fullmatch("[0-9]{1,9}", text, re.ASCII) else None

    @cached_property
    def answer_text(self) -> str:
        """The answer's body as text; empty if there is none or if it is no text."""
        return "" if self.entry.answer is None else _text_of(self.entry.answer)

    @cached_property
    def answer_json(self) -> Any:
        """The answer's body as a JSON value; None if it is no JSON."""
        return _json_of(self.answer_text)

    @property
    def is_cut(self) -> bool:
        """Whether the journal has only the beginning of the answer."""
        answer = self.entry.answer
        return answer is not None and answer.size is not None and answer.size > len(answer.body)

    @property
    def is_long(self) -> bool:
        """Whether a client that needs only the beginning of the answer closes its connection to skip the rest."""
        answer = self.entry.answer
        return answer is not None and (answer.size or 0) > _LONG

    @property
    def last_modified_by(self) -> Any:
        """The client that has last changed the resource of the answer. It may be another client than that of the
        request, because a write that changes nothing leaves it."""
        modified: Any = self.answer_json.get("lastModifiedBy") if isinstance(self.answer_json, dict) else None
        return modified.get("id") if isinstance(modified, dict) else None

    def versions_shown(self) -> dict[str, int]:
        """The versions of resources that the answer shows, by their ids."""
        answer: Any = self.answer_json
        listed = answer.get("results", [answer]) if isinstance(answer, dict) else []
        found = [cast("dict[str, Any]", each) for each in listed if isinstance(each, dict)] if listed else []
        pairs = ((each.get("id"), each.get("version")) for each in found)
        return {id_: version for id_, version in pairs if isinstance(id_, str) and isinstance(version, int)}


def _hash_of(*parts: str | bytes) -> bytes:
    """A hash of 16 bytes, equal for equal parts."""
    made = blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        made.update(b"%d:" % len(data))
        made.update(data)
    return made.digest()


def _text_of(message: Message) -> str:
    try:
        return message.body.decode()
    except UnicodeDecodeError:
        return ""


def _json_of(text: str) -> Any:
    if not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # RecursionError: brackets are nested too deeply
        return None
