"""What was sent and what came back, kept for the report of a failure."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from sample_resource_testkit.wire import Origin, RawAnswer, Request

_LONGEST_BODY = 2_000
"""Characters of a body that a report shows."""


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """A request and what became of it. Two are never equal, even if the same was sent twice.

    :param answer: None if there was none; ``fault`` says why.
    """

    origin: Origin
    request: Request
    answer: RawAnswer | None
    fault: str = ""

    def curl(self, hide: Callable[[str], str]) -> str:
        """A line that sends the same request when it is pasted into a shell.

        :param hide: replaces secrets by the names of shell variables.
        """
        return curl(self.origin, self.request, hide)

    def told(self) -> str:
        """The answer as text: status line, headers, body."""
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
    """A body as text of a bearable length."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = repr(data)
    if len(text) <= _LONGEST_BODY:
        return text
    return f"{text[:_LONGEST_BODY]} ... ({len(data)} bytes)"


def curl(origin: Origin, request: Request, hide: Callable[[str], str]) -> str:
    """A curl line for a request, as :meth:`Exchange.curl` says."""
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
        # A shell cannot have U+0000 in an argument, and curl takes one that begins with @ for a file.
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
"""What means something to a shell between double quotes, beside the dollar of a variable."""


def _word(word: str, hidden: str) -> str:
    """A word for a shell; a variable that stands for a secret is put between double quotes, so that it is replaced."""
    if hidden != word and not _UNQUOTABLE.search(hidden):
        return f'"{hidden}"'
    return shlex.quote(hidden)
