"""Formats entries of the journal as an HTTP archive (HAR 1.2), which browsers and HTTP debuggers open."""

import base64
import json
from collections.abc import Iterable, Iterator
from http.client import responses
from typing import Any
from urllib.parse import parse_qsl


def archive(entries: Iterable[dict[str, Any]], base_url: str) -> Iterator[str]:
    """Make the archive as parts of a JSON text.

    :param entries: the described entries, the oldest first.
    :param base_url: the address of the service, because an archive has whole URLs.
    """
    creator = json.dumps({"name": "sample-resource", "version": "1"})
    begin = f'{{"log":{{"version":"1.2","creator":{creator},"pages":[],"entries":['
    return in_parts(begin, (_entry(entry, base_url) for entry in entries), "]}}")


def in_parts(begin: str, items: Iterable[Any], end: str) -> Iterator[str]:
    """Yield the parts of a JSON text with a list: each item is made when its part is needed, so that other requests can
    go on in between."""
    yield begin
    for number, item in enumerate(items):
        yield f"{',' if number else ''}{json.dumps(item)}"
    yield end


def _entry(entry: dict[str, Any], base_url: str) -> dict[str, Any]:
    duration: float = entry["durationMs"] or 0.0
    waited: float = min(entry["answeredMs"] or 0.0, duration)
    connection = entry["connection"]
    return {
        "startedDateTime": entry["startedAt"],
        "time": duration,
        "request": _request(entry["request"], base_url),
        "response": _response(entry["response"], entry["request"]["httpVersion"]),
        "cache": {},
        "timings": {"send": 0, "wait": waited, "receive": duration - waited},
        "_number": entry["number"],
        "_operationId": entry["operationId"],
        "_rule": entry["rule"],
        "_findings": entry["findings"],
        **({} if connection is None else {"connection": str(connection["number"])}),
    }


def _request(request: dict[str, Any], base_url: str) -> dict[str, Any]:
    target: str = request["target"]
    body = request["body"]
    made: dict[str, Any] = {
        "method": request["method"],
        "url": f"{base_url}{target}" if target.startswith("/") else target,
        "httpVersion": request["httpVersion"],
        "cookies": [],
        "headers": _pairs(request["headers"]),
        "queryString": _pairs(parse_qsl(target.partition("?")[2].partition("#")[0], keep_blank_values=True)),
        "headersSize": -1,
        "bodySize": 0 if body is None else -1 if body["size"] is None else body["size"],
    }
    if body is not None:
        text = body["text"] if "text" in body else base64.b64decode(body["base64"]).decode("latin-1")
        made["postData"] = {"mimeType": _header(request["headers"], "content-type"), "params": [], "text": text}
        if "base64" in body:
            made["postData"]["comment"] = "no text: each character is a byte (ISO 8859-1)"
    return made


def _response(response: dict[str, Any] | None, http_version: str) -> dict[str, Any]:
    """The response of the archive. Without an answer it has the status 0, as browsers export it."""
    response = response or {"status": 0, "headers": [], "body": None}
    body = response["body"] or {"size": 0, "text": ""}
    content: dict[str, Any] = {
        "size": body["size"] or 0,
        "mimeType": _header(response["headers"], "content-type") or "x-unknown",
        "text": body.get("text", body.get("base64", "")),
        **({"encoding": "base64"} if "base64" in body else {}),
    }
    status: int = response["status"]
    return {
        "status": status,
        "statusText": responses.get(status, ""),
        "httpVersion": http_version,
        "cookies": [],
        "headers": _pairs(response["headers"]),
        "content": content,
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": body["size"] or 0,
    }


def _pairs(pairs: Iterable[Any]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _header(headers: Iterable[Any], name: str) -> str:
    return next((value for each, value in headers if each.lower() == name), "")
