"""What ``app/serving/worker.py`` relies on in gunicorn's source, which promises no stability.

A failure means that an upgrade has changed it. Compare the two versions of the code that the message names, decide
whether the override still does what its line in the docstring of ``Worker`` says, run
``make test-slow ARGS=-mfaults``, and only then replace the fingerprint here by the new one.
"""

import hashlib
import inspect
from typing import Any

import gunicorn
import pytest
from gunicorn import util
from gunicorn.arbiter import Arbiter
from gunicorn.config import Config
from gunicorn.http import body, errors, parser
from gunicorn.http.errors import ParseException
from gunicorn.http.message import Message, Request
from gunicorn.workers.base import Worker as BaseWorker
from gunicorn.workers.base_async import AsyncWorker
from gunicorn.workers.ggevent import GeventWorker
from gunicorn.workers.workertmp import WorkerTmp

from app.serving.worker import Worker

RELIED_ON: dict[Any, tuple[str, str]] = {
    # Overridden: what the override leaves out or does otherwise.
    GeventWorker.patch: ("e755a4b317f5", "patch() does the same without monkey.patch_all(), and limits send buffers"),
    GeventWorker.run: (
        "50119854ef8b",
        "run() replaces it: TLS and server_class are left out, check_config() refuses TLS",
    ),
    GeventWorker.notify: ("10266ff4bf20", "notify() replaces it: a dead master starts a graceful stop"),
    GeventWorker.timeout_ctx: (
        "8239bec284f0",
        "timeout_ctx() replaces it: connections that wait are known to the worker",
    ),
    GeventWorker.handle: (
        "0ea41a122964",
        "handle() skips it: it only makes the socket blocking and calls AsyncWorker.handle()",
    ),
    GeventWorker.handle_request: ("46750b15c6e4", "handle_request() calls it, and sees TimeoutError and StopIteration"),
    GeventWorker.init_process: ("c8f6804aeb44", "init_process() calls it, and it calls patch() before anything else"),
    BaseWorker.handle_exit: ("e2f7159c426d", "handle_exit() replaces it: it only sets alive to False"),
    BaseWorker.handle_error: (
        "75426448389b",
        "handle_error() replaces it, and error_for() decides by the same exception classes",
    ),
    BaseWorker.notify: ("7f509bc4046b", "notify() does what it does: self.tmp.notify()"),
    # Called by gunicorn around the overrides, or by them.
    AsyncWorker.__init__: ("a3c8f332bcc5", "run() and begin_idle() use worker_connections"),
    AsyncWorker.handle: (
        "6eb3b127e6ba",
        "reads the next request within timeout_ctx(), ends on StopIteration, calls handle_error()",
    ),
    AsyncWorker.handle_request: ("913e17a9542a", "raises StopIteration to end a connection, passes on OSError"),
    BaseWorker.init_process: ("114caccd7a0e", "loads the application, calls post_worker_init(), then run()"),
    BaseWorker.init_signals: ("65442e0602b0", "SIGTERM calls handle_exit()"),
    Arbiter.start: ("92668bdb3e86", "calls check_config() of the worker class before it forks"),
    WorkerTmp.notify: ("0d06fcb9fe25", "tells the master that the worker is alive"),
    body.LengthReader.__init__: ("1c04507563bb", "_discard_rest_of() reads body.reader.length"),
    body.LengthReader.read: ("be99a0aa587f", "length is what is left to read, 0 at the end"),
    body.Body.read: ("c7bdfdd1c2c3", "_discard_rest_of() reads with a size, and gets b'' at the end"),
    parser.Parser.finish_body: (
        "54c5d0d28c26",
        "reads the rest of a body before the next request; _discard_rest_of() has done so",
    ),
    Message.parse_headers: (
        "fe09a6b5e706",
        "BoundedRequest bounds the lines that it is given",
    ),
    Message.__init__: ("14b64a40f29f", "sets max_buffer_headers, which BoundedRequest lowers, before it calls parse()"),
    vars(Request)["_parse_python"]: ("ed07ffec5178", "stops at max_buffer_headers"),
    body.ChunkedReader.__init__: ("74626d236eb5", "bounds a trailer by max_buffer_headers"),
    parser.Parser.__next__: ("b8536520e958", "makes requests of mesg_class, which the worker replaces"),
    util.write_nonblock: ("d2ff97701c36", "handle_error() sends its response by it"),
}
"""By function: the fingerprint of its source, and what relies on it."""


def fingerprint(function: Any) -> str:
    return hashlib.sha256(inspect.getsource(function).encode()).hexdigest()[:12]


@pytest.mark.parametrize("function", RELIED_ON, ids=lambda function: function.__qualname__)
def test_source_that_the_worker_relies_on(function: Any) -> None:
    known, reason = RELIED_ON[function]
    assert fingerprint(function) == known, (
        f"gunicorn {gunicorn.__version__} has changed {function.__module__}.{function.__qualname__}. "
        f"What relies on it: {reason}. See the head of this file."
    )


def test_nothing_else_of_gunicorn_is_overridden() -> None:
    """A new override needs its line in the docstring, and here."""
    overridden = {name for name in vars(Worker) if hasattr(GeventWorker, name) and not name.startswith("__")}
    assert overridden == {
        "patch",
        "run",
        "notify",
        "init_process",
        "timeout_ctx",
        "handle_exit",
        "handle",
        "handle_request",
        "handle_error",
    }
    for name in (*overridden, "check_config"):
        assert f"``{name}``" in (Worker.__doc__ or "")


@pytest.mark.parametrize("name", ["graceful_timeout", "keepalive", "worker_connections"])
def test_settings_that_the_worker_reads(name: str) -> None:
    assert name in Config().settings, f"gunicorn {gunicorn.__version__} has renamed {name}; see app/serving/worker.py"


def test_settings_for_tls_are_recognised() -> None:
    """``check_config`` refuses the settings of this section, and ``ssl_context``, which is in another."""
    settings = Config().settings
    assert {name for name, setting in settings.items() if setting.section == "SSL"} == {
        "certfile",
        "keyfile",
        "ca_certs",
        "ssl_version",
        "cert_reqs",
        "ciphers",
        "do_handshake_on_connect",
        "suppress_ragged_eofs",
    }
    assert "ssl_context" in settings


def test_exceptions_that_become_errors() -> None:
    """``error_for`` answers 431, 400 or 500 by class and by name; a class that is new here needs a decision there."""
    parsing = {name for name, one in vars(errors).items() if inspect.isclass(one) and issubclass(one, ParseException)}
    assert parsing == {
        "ParseException",
        # 500, since the service is at fault
        "ConfigurationProblem",
        "InvalidResponseHeader",
        "InvalidResponseHeaderName",
        # 431
        "LimitRequestHeaders",
        "LimitRequestLine",
        # 400
        "ChunkMissingTerminator",
        "ExpectationFailed",
        "ForbiddenProxyRequest",
        "InvalidChunkExtension",
        "InvalidChunkSize",
        "InvalidH2CPreface",
        "InvalidHTTPVersion",
        "InvalidHeader",
        "InvalidHeaderName",
        "InvalidProxyHeader",
        "InvalidProxyLine",
        "InvalidRequestLine",
        "InvalidRequestMethod",
        "InvalidSchemeHeaders",
        "ObsoleteFolding",
        "UnsupportedTransferCoding",
    }
