"""The lower bound of the cost of a request in every Python server here: gunicorn answers constant bytes."""

from collections.abc import Callable, Iterable
from typing import Any

_BODY = b'{"id": "none"}'


def app(_environ: dict[str, Any], start_response: Callable[[str, list[tuple[str, str]]], Any]) -> Iterable[bytes]:
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(_BODY)))])
    return [_BODY]
