"""Requests with their answers, kept for the report of a failure."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from sample_resource_testkit.wire import Origin, RawAnswer, Request

_LONGEST_BODY = 2_000
"""The characters of a body that a report shows at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """A request with its answer or fault. Two exchanges are never equal, even with the same request.

    :param answer: None if no answer came; then ``fault`` says why.
    """

    origin: Origin
    request: Request
    answer: RawAnswer | None
    fault: str = ""

    def curl(self, hide: Callable[[str], str]) -> str:
        """A shell command that sends the request again by curl.

        :param hide: replaces secrets by the names of shell variables.
        """
        return curl(self.origin, self.request, hide)

    def told(self) -> str:
        """The answer as text: status line, headers, body. Without an answer, the fault."""
        if self.answer is None:
            return self.fault
        answer = self.answer
        lines = [f"HTTP/{answer.http_version} {answer.status} {answer.reason}".rstrip()]
        lines += [f"{name}: {value}" for name, value in answer.headers]
        if answer.body:
            lines += ["", shortened(answer.body)]
        if answer.extra:
            lines += ["", f"and after the end of the answer: {shortened(answer.extra)}"]
        return "\n".join(lines)


def shortened(data: bytes) -> str:
    """A body as text, cut short after 2,000 characters."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = repr(data)
    if len(text) <= _LONGEST_BODY:
        return text
    return f"{text[:_LONGEST_BODY]} ... ({len(data)} bytes)"


def curl(origin: Origin, request: Request, hide: Callable[[str], str]) -> str:
    """A shell command that sends a request by curl; see :meth:`Exchange.curl`."""
    words = ["curl", "--include", "--http1.1", "--path-as-is", "--globoff"]
    if request.method == "HEAD":
        words.append("--head")
    else:
        words += ["--request", request.method]
    for name, value in request.headers:
        words += ["--header", f"{name};" if value == "" else f"{name}: {value}"]
    names = {name.lower() for name, _ in request.headers}
    before = ""
    if request.body is not None:
        if "content-type" not in names:
            words += ["--header", "Content-Type:"]
        try:
            text = request.body.decode()
        except UnicodeDecodeError:
            text = ""
        # An argument of a command cannot contain U+0000, and curl reads a file if the argument begins with @.
        if (text == "" and request.body) or "\0" in text or text.startswith("@"):
            octal = "".join(f"\\{byte:03o}" for byte in request.body)
            before = f"printf '{octal}' | "
            text = "@-"
        words += ["--data-binary", text]
    target = request.target.encode("utf-8", "surrogateescape")
    if target.isascii() and b" " not in target and target.startswith(b"/") and b"#" not in target:
        words.append(origin.base + request.target)
    else:
        words += ["--request-target", request.target.encode("utf-8", "backslashreplace").decode(), origin.base]
    return before + " ".join(_word(word, hide(word)) for word in words)


_UNQUOTABLE = re.compile(r'["`\\\\]')
"""Characters with a meaning to a shell between double quotes, without the dollar sign of a variable."""


def _word(word: str, hidden: str) -> str:
    """A quoted word for a shell. If it contains a variable for a secret, the quotes are double, so that the shell
    expands it."""
    if hidden != word and not _UNQUOTABLE.search(hidden):
        return f'"{hidden}"'
    return shlex.quote(hidden)
