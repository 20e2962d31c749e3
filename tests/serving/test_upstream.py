"""What ``app/serving/worker.py`` relies on in gunicorn, which promises no stability of its internals.

A failure means that an upgrade has changed something. Compare the two versions of the code that the message names,
decide whether the override still does what its docstring says, and run ``make test-slow ARGS=-mfaults``.
"""

import inspect
from typing import Any

import pytest
from gunicorn.http import body, errors
from gunicorn.http.errors import ParseException
from gunicorn.http.message import Message, Request
from gunicorn.http.parser import Parser, RequestParser
from gunicorn.http.unreader import Unreader
from gunicorn.workers.base import Worker as BaseWorker
from gunicorn.workers.base_async import AsyncWorker
from gunicorn.workers.ggevent import GeventWorker

from app.http.malformed import error_for
from app.serving.worker import BoundedRequest, Worker

RELIED_ON: dict[Any, tuple[str, ...]] = {
    GeventWorker.patch: ("fileno=s.sock.detach()", "self.sockets = sockets"),
    GeventWorker.notify: ("super().notify()", "self.ppid != os.getppid()"),
    BaseWorker.notify: ("self.tmp.notify()",),
    GeventWorker.run: ("while self.alive:", "self.notify()", "server.close()", "self.cfg.graceful_timeout"),
    GeventWorker.handle: ("client.setblocking(1)", "super().handle(listener, client, addr)"),
    GeventWorker.handle_request: ("super().handle_request(", "except gevent.GreenletExit", "except SystemExit"),
    GeventWorker.timeout_ctx: ("gevent.Timeout(self.cfg.keepalive, False)",),
    AsyncWorker.handle: ("with self.timeout_ctx():", "if not req:", "except StopIteration", "self.handle_error(req"),
    AsyncWorker.handle_request: ("if not self.alive", "raise StopIteration()", "util.reraise"),
    Message.__init__: ("self.max_buffer_headers =", "self.parse(self.unreader)"),
    vars(Request)["_parse_python"]: ("> self.max_buffer_headers", "self.parse_headers(data[:idx]"),
    body.ChunkedReader.__init__: ("self.parser = self.parse_chunked(unreader)", '"max_buffer_headers"'),
    body.ChunkedReader.read: ("next(self.parser)", "except StopIteration"),
    body.LengthReader.read: ("self.length -= size",),
    vars(body.Body)["_read_reader"]: ("self.failed = True",),
    Unreader.__init__: ("self.buf = io.BytesIO()",),
    Parser.__next__: ("self.mesg_class(",),
}
"""By function: the lines that the worker relies on."""


@pytest.mark.parametrize("function", RELIED_ON, ids=lambda function: function.__qualname__)
def test_lines_that_the_worker_relies_on(function: Any) -> None:
    source = inspect.getsource(function)
    missing = [line for line in RELIED_ON[function] if line not in source]
    assert not missing, f"gunicorn has changed {function.__module__}.{function.__qualname__}, see app/serving/worker.py"


def test_nothing_else_of_gunicorn_is_overridden() -> None:
    assert RequestParser.mesg_class in (Request, BoundedRequest)
    overridden = {name for name in vars(Worker) if hasattr(GeventWorker, name) and not name.startswith("__")}
    assert overridden == {"init_process", "patch", "notify", "handle", "handle_request", "handle_error"}


def _exceptions() -> dict[str, type[Exception]]:
    return {name: one for name, one in vars(errors).items() if inspect.isclass(one) and issubclass(one, ParseException)}


_OURS = ("ConfigurationProblem", "InvalidResponseHeader", "InvalidResponseHeaderName")
"""The exceptions for which the service is at fault: 500."""

_UNREACHABLE = (
    "ParseException",
    "ForbiddenProxyRequest",
    "InvalidH2CPreface",
    "InvalidProxyHeader",
    "InvalidProxyLine",
    "InvalidSchemeHeaders",
)
"""The exceptions of protocols that the service does not speak."""


@pytest.mark.parametrize("name", _exceptions())
def test_every_exception_of_the_parser_is_told_in_words(name: str) -> None:
    kind = _exceptions()[name]
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    required = [each for each in parameters if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD]
    error = error_for(kind(*["GET /x HTTP/1.1"] * len(required)))
    text = str(error)
    if name in _OURS:
        assert error.status == 500
    elif name.startswith("Limit"):
        assert error.status in (414, 431)
    else:
        assert error.status == 400
        assert name not in text
        assert ("It is no request of HTTP/1.1." in text) == (name in _UNREACHABLE)
