"""Runs adapters: processes that read and write one JSON object in each line.

An adapter can neither end nor block a run. A thread writes to it, and each answer has a time limit. An adapter that is
late, or whose message is not valid, is killed and replaced by a new process.
"""

import contextlib
import itertools
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from typing import Any, cast

from sample_resource_testkit.client.messages import KINDS, LONGEST, Returned, Unsupported, Wrong, as_json, shortened

PROTOCOL = 1

_LONGEST_LINE = 64 * 1024 * 1024
"""The longest line in bytes. An adapter that writes more without an end of line is killed."""

_LOG_LINES = 40

_LOG_WITHIN_S = 1.0
"""How long to wait for the rest of stderr after the adapter's end. Processes that it started may keep stderr open."""

_ENDS_WITHIN_S = 3.0
"""How long an adapter may run after the end of its input, before it is killed."""

_ENDS_OF_LINES = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
"""Characters at which some languages end a line. They are written as escapes."""

Trace = Callable[[str], None]


class AdapterFailed(Exception):
    """The adapter cannot be used any more: it ended, is late, or sent a message that is not valid.

    The message says which.

    :ivar log: if the adapter did not answer ``hello``, what it wrote to stderr.
    """

    log = ""


class AdapterLate(AdapterFailed):
    """The adapter did not answer in time."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The answer of an adapter to ``hello``, which describes the client.

    :param operations: the operations that the client has; None for all.
    """

    client: str
    version: str
    operations: frozenset[str] | None = None
    features: frozenset[str] = frozenset()

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> "Hello":
        """Read the answer to ``hello``.

        :raises AdapterFailed: if the answer is not valid.
        """
        listed, features = answer.get("operations"), answer.get("features", [])
        texts = [answer.get("client"), answer.get("version"), *_items(listed), *_items(features)]
        if not all(isinstance(text, str) for text in texts):
            told = as_json(dict(answer))
            raise AdapterFailed(f"the answer to hello needs the texts client and version, and arrays of texts: {told}")
        return cls(
            str(answer["client"]),
            str(answer["version"]),
            None if listed is None else frozenset(cast("list[str]", listed)),
            frozenset(cast("list[str]", features)),
        )


def _items(value: Any) -> list[Any]:
    if value is None:
        return []
    return cast("list[Any]", value) if isinstance(value, list) else [None]


class Adapter:
    """A running adapter.

    :param command: the program and its arguments.
    :param timeout_s: the time limit of an answer, in addition to the time limit of the call.
    :param start_timeout_s: the time limit of the answer to ``hello``.
    :param trace: gets each message that is sent or read.
    :raises OSError: if the program cannot be started.
    """

    def __init__(
        self, command: Sequence[str], timeout_s: float, start_timeout_s: float, trace: Trace | None = None
    ) -> None:
        self._timeout_s = timeout_s
        self.trace = trace
        self._ids = itertools.count(1)
        self._waiting: dict[object, Future[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._log: deque[str] = deque(maxlen=_LOG_LINES)
        self._complaint: str | None = None
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(  # noqa: S603 -- the program that the user names
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        greeting = self._send({"do": "hello", "protocol": PROTOCOL}, "hello")
        self._log_reader = threading.Thread(target=self._read_log, daemon=True)
        self._log_reader.start()
        for target in (self._write, self._read):
            threading.Thread(target=target, daemon=True).start()
        try:
            self.hello = Hello.of(self._wait(greeting, "hello", "hello", start_timeout_s))
        except AdapterFailed as failed:
            self.kill()
            failed.log = self.log
            raise

    @property
    def log(self) -> str:
        """The end of the adapter's output to stderr since :meth:`forget_log`."""
        return "\n".join(self._log)[-LONGEST:]

    def forget_log(self) -> None:
        """Empty the log, because a new scenario begins."""
        self._log.clear()

    def open(self, session: str, order: Mapping[str, Any]) -> None:
        """Let the adapter make a client.

        :raises Unsupported: if the adapter says that it does not support this.
        :raises AdapterFailed: if the adapter fails.
        """
        answer = self._ask({"do": "open", "session": session, **order}, f"session {session}")
        if "unsupported" in answer:
            raise Unsupported(str(answer["unsupported"]))
        if answer.get("ok") is not True:
            raise AdapterFailed(f'the answer to open has neither "ok": true nor unsupported: {as_json(answer)}')

    def close(self, session: str) -> None:
        """Let the adapter close a client.

        :raises AdapterFailed: if the adapter fails, or has sent a message that is not valid.
        """
        answer = self._ask({"do": "close", "session": session}, f"session {session}")
        if answer.get("ok") is not True:
            raise AdapterFailed(f'the answer to close has no "ok": true: {as_json(answer)}')

    def begin(
        self, session: str, operation: str, arguments: Mapping[str, Any], body: Any, limit_s: float
    ) -> Callable[[], Returned]:
        """Begin a call, and return a function that waits for its answer.

        :param limit_s: the time limit of the call; the adapter has some seconds more to answer.
        :return: a function that raises AdapterFailed if no answer comes, and whatever :func:`returned` raises.
        """
        number = next(self._ids)
        message: dict[str, Any] = {"do": "call", "session": session, "id": number, "operation": operation}
        if arguments:
            message["arguments"] = dict(arguments)
        if body is not None:
            message["body"] = body
        began = time.monotonic()
        future = self._send(message, number)
        return lambda: returned(self._wait(future, number, f"call {number}", self._timeout_s + limit_s), began)

    def kill(self) -> None:
        """Kill the adapter and all processes that it has started."""
        self._outgoing.put(None)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:  # Windows, where the children of the adapter keep running
                self._process.kill()
        self._process.wait()
        self._log_reader.join(_LOG_WITHIN_S)
        self._fail(AdapterFailed("the adapter was killed"))

    def stop(self) -> None:
        """Close the adapter's input, wait for its end, and kill all processes that are left."""
        self.ends_by_itself()

    def ends_by_itself(self) -> bool:
        """Close the adapter's input, and return whether it ends within three seconds. Otherwise it is killed."""
        self._outgoing.put(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDS_WITHIN_S)
        ends = self._process.poll() is not None
        self.kill()
        return ends

    # The three threads

    def _write(self) -> None:
        stream = self._process.stdin
        assert stream is not None  # noqa: S101 -- it is a pipe
        with contextlib.suppress(OSError, ValueError):
            while (line := self._outgoing.get()) is not None:
                stream.write(line)
                stream.flush()
        with contextlib.suppress(OSError):
            stream.close()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None  # noqa: S101 -- it is a pipe
        with stream:
            while line := stream.readline(_LONGEST_LINE):
                if not self._take(line):
                    break
        if self._complaint is not None:
            self._fail(AdapterFailed(self._complaint))
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        code = self._process.poll()
        told = "closed its output" if code is None else f"ended with exit code {code}"
        self._fail(AdapterFailed(f"the adapter {told}"))

    def _read_log(self) -> None:
        stream = self._process.stderr
        assert stream is not None  # noqa: S101 -- it is a pipe
        with stream:
            while line := stream.readline(10_000):
                self._log.append(line.decode("utf-8", "backslashreplace").rstrip())

    # Messages

    def _take(self, line: bytes) -> bool:
        """Pass a line to the call that waits for it, and return whether the line was valid."""
        text = line.decode("utf-8", "backslashreplace").rstrip("\r\n")
        if self.trace is not None:
            self.trace(f"<- {text}")
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return self._complain("wrote a line that is no JSON", text)
        if not isinstance(message, dict):
            return self._complain("wrote a line that is no JSON object", text)
        answer = cast("dict[str, Any]", message)
        key: object = f"session {answer['session']}" if "session" in answer else answer.get("id", "hello")
        with self._lock:
            future = self._waiting.pop(key, None) if isinstance(key, str | int) else None
        if future is None:
            what = f"answered {key if isinstance(key, str) else f'call {key}'}, which nobody waits for"
            return self._complain(f"{what} (twice, or an unknown id)", text)
        future.set_result(answer)
        return True

    def _complain(self, what: str, line: str) -> bool:
        self._complaint = f"the adapter {what}: {shortened(line)}"
        return False

    def _fail(self, error: AdapterFailed) -> None:
        with self._lock:
            waiting, self._waiting = list(self._waiting.values()), {}
        for future in waiting:
            with contextlib.suppress(Exception):
                future.set_exception(error)

    def _send(self, message: Mapping[str, Any], key: object) -> Future[dict[str, Any]]:
        text = json.dumps(message, ensure_ascii=False).translate(_ENDS_OF_LINES)
        if self.trace is not None:
            self.trace(f"-> {text}")
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            self._waiting[key] = future
        self._outgoing.put(f"{text}\n".encode())
        if self._process.poll() is not None or self._complaint is not None:
            self._fail(AdapterFailed(self._complaint or f"the adapter ended with exit code {self._process.poll()}"))
        return future

    def _wait(self, future: Future[dict[str, Any]], key: object, what: str, limit_s: float) -> dict[str, Any]:
        try:
            return future.result(limit_s)
        except FutureTimeout:
            with self._lock:
                self._waiting.pop(key, None)
            raise AdapterLate(f"the adapter did not answer {what} within {limit_s:g} s") from None

    def _ask(self, message: Mapping[str, Any], key: str) -> dict[str, Any]:
        return self._wait(self._send(message, key), key, str(message["do"]), self._timeout_s)


def returned(answer: Mapping[str, Any], began: float) -> Returned:
    """Read the answer to a call.

    :raises Unsupported: if the adapter says that it does not support the call.
    :raises Wrong: if the answer is not valid.
    """
    elapsed_s = time.monotonic() - began
    members = [name for name in ("result", "error", "unsupported") if name in answer]
    if len(members) != 1:
        raise Wrong(f"the answer to a call needs one of result, error and unsupported: {as_json(dict(answer))}")
    if members == ["unsupported"]:
        raise Unsupported(str(answer["unsupported"]))
    error, meta = answer.get("error"), answer.get("meta") or {}
    if "error" in answer and (not isinstance(error, dict) or cast("Any", error).get("kind") not in KINDS):
        raise Wrong(f"an error needs a kind, one of {', '.join(KINDS)}: {as_json(dict(answer))}")
    if not isinstance(meta, dict):
        raise Wrong(f"meta is no object: {as_json(dict(answer))}")
    for name, kind, told in (("status", int, "a number"), ("etag", str, "a text"), ("location", str, "a text")):
        if not isinstance(shown := cast("Any", meta).get(name), kind | None) or isinstance(shown, bool):
            raise Wrong(f"{name} of meta has to be {told}: {as_json(dict(answer))}")
    return Returned(answer.get("result"), cast("Any", error), cast("Any", meta), elapsed_s)
