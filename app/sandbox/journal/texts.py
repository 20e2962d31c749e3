"""The JSON text of an entry, made of what was noted of a request, without tokens and secrets."""

import base64
import codecs
import logging
from collections.abc import Mapping
from copy import copy
from datetime import UTC, datetime
from functools import lru_cache, partial
from json import dumps
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

from app.identity.verification import VerifiedToken
from app.sandbox.journal.exchange import BODY_BYTES_KEPT, Exchange, HttpMessage
from app.sandbox.journal.redaction import Secrets, redacted, redacted_header
from app.sandbox.journal.store import UNREADABLE, Row
from app.values.large_values import LARGE_FROM, beside_other_requests
from app.values.timestamps import text_of

_log = logging.getLogger("app.sandbox")


def made_row(exchange: Exchange, secrets: tuple[str, ...]) -> Row:
    """The entry of a request. If it cannot be made, the log says why, and the entry says that there was a request."""
    try:
        if exchange.bytes > LARGE_FROM:
            return beside_other_requests(partial(row_of, copy(exchange), secrets))
        return row_of(exchange, secrets)
    except Exception:  # noqa: BLE001 -- whatever it is, the other entries are to be written
        _log.exception("an entry of the journal could not be made", extra={"fields": {"project": exchange.project_key}})
        return _row(exchange, UNREADABLE, method="")


def _row(exchange: Exchange, text: str, method: str) -> Row:
    ended_us = None if exchange.ended_s is None else round((exchange.arrived_at + exchange.ended_s) * 1e6)
    arrived_us = round(exchange.arrived_at * 1e6)
    return Row(arrived_us, exchange.place, ended_us, exchange.status, exchange.operation_id, method, text)


def row_of(exchange: Exchange, secrets: tuple[str, ...]) -> Row:
    """The entry of a request, without tokens and secrets. Strings and headers are put together by hand: it is made for
    each request, and a general encoder takes three times as long."""
    known = Secrets(exchange.secret_hash, secrets)
    answer = "null"
    if exchange.answer is not None:
        answer = f'{{"status":{exchange.status},{_message(exchange.answer, known)}}}'
    sql = f'{{"statements":{exchange.statements},"milliseconds":{exchange.sql_s * 1000:.2f}}}'
    connection = "null"
    if exchange.connection is not None:
        age_s = None if exchange.opened_at is None else exchange.arrived_at - exchange.opened_at
        number, request = exchange.connection
        connection = f'{{"number":{number},"request":{request},"ageMs":{_milliseconds(age_s)}}}'
    ended_s = exchange.ended_s
    ended_at = None if ended_s is None else exchange.arrived_at + ended_s
    entry = (
        f'"startedAt":{_moment(exchange.arrived_at)},"endedAt":{_moment(ended_at)},'
        f'"answeredMs":{_milliseconds(exchange.answered_s)},"durationMs":{_milliseconds(ended_s)},'
        f'"underWay":{"true" if ended_s is None else "false"},'
        f'"clientId":{_optional(exchange.client_id)},"operationId":{_optional(exchange.operation_id)},'
        f'"request":{{"method":{quoted(redacted(exchange.method, known))},'
        f'"target":{quoted(redacted(exchange.target, known))},'
        f'"httpVersion":{quoted(exchange.http_version)},{_message(exchange.request, known)}}},'
        f'"response":{answer},"token":{_token(exchange.token)},"rule":{_object(exchange.rule)},'
        f'"sql":{sql},"correlationId":{quoted(redacted(exchange.correlation_id, known))},"connection":{connection},'
        f'"clientGone":{"true" if exchange.client_gone else "false"},"projectTime":{_moment(exchange.project_time)}}}'
    )
    return _row(exchange, "{" + entry, exchange.method)


def _milliseconds(seconds: float | None) -> str:
    return "null" if seconds is None else f"{seconds * 1000:.2f}"


def _message(message: HttpMessage, known: Secrets) -> str:
    headers = message.headers
    if isinstance(headers, bytes):
        text = _lines(headers, known)
    else:
        text = ",".join([_header(name, value, known) for name, value in headers])
    return f'"headers":[{text}],"body":{_body(message, known)}'


@lru_cache(maxsize=512)
def _lines(head: bytes, known: Secrets) -> str:
    """Header lines as JSON. Most requests of a client have the same ones, so they are kept."""
    pairs = (line.partition(":") for line in head.decode("latin-1").split("\r\n") if line)
    return ",".join([_header(name, value.strip(" \t"), known) for name, _, value in pairs])


@lru_cache(maxsize=4096)
def _header(name: str, value: str, known: Secrets) -> str:
    """A header as JSON."""
    return f"[{quoted(redacted(name, known))},{quoted(redacted_header(name, value, known))}]"


def _body(message: HttpMessage, known: Secrets) -> str:
    noted = message.body
    kept = noted[:BODY_BYTES_KEPT]
    size = "null" if message.size is None else str(message.size)
    is_cut = message.size is None or message.size > len(kept)
    cut = ',"truncated":true' if is_cut else ""
    if not kept and not is_cut:
        return "null"
    try:
        # Of a body that was cut, the last character may have been cut in two.
        text = _decoded(noted) if is_cut else noted.decode()
        length = len(_decoded(kept)) if is_cut else len(text)
    except UnicodeDecodeError:
        text, length = "", 0
    if (kept and not text) or "\0" in text:
        # No text. What looks like a secret is left out before it is encoded.
        clean = redacted(noted.decode("latin-1"), known, len(kept)).encode("latin-1", "replace")
        return f'{{"size":{size},"base64":"{base64.b64encode(clean).decode()}"{cut}}}'
    return f'{{"size":{size},"text":{quoted(redacted(text, known, length))}{cut}}}'


def _decoded(part: bytes) -> str:
    return codecs.getincrementaldecoder("utf-8")().decode(part)


@lru_cache(maxsize=256)
def _token(token: VerifiedToken | None) -> str:
    """What the token of a request says, without the token. Most requests of a client have the same one."""
    if token is None:
        return "null"
    expires_at = datetime.fromtimestamp(token.expires_at, UTC)
    return dumps(
        {
            "sub": token.principal.client_id,
            "scopes": sorted(token.principal.scopes),
            "id": token.token_id,
            "expiresAt": text_of(expires_at),
        }
    )


def _optional(text: str | None) -> str:
    return "null" if text is None else quoted(text)


def _object(value: Mapping[str, Any] | None) -> str:
    return "null" if value is None else dumps(value)


def _moment(seconds: float | None) -> str:
    return "null" if seconds is None else f'"{text_of(datetime.fromtimestamp(seconds, UTC))}"'
