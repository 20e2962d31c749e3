"""Judges a run of tests as a whole: whether its clients have exercised enough of the interface."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sample_resource_testkit.sandbox import SandboxError, SandboxServer

FORMS = {".html": "text/html", ".json": "application/json"}
"""The media type of a report by the suffix of its file."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The conditions that a run of tests has to meet.

    :param report: the file to write the report to.
    :param minimum: the least percentage of the interface that has to be exercised.
    :param of: the kinds and names that count; None counts all.
    :param allowed: the expected findings; any other fails the run. None allows all findings.
    """

    report: Path | None = None
    minimum: int | None = None
    of: tuple[str, ...] | None = None
    allowed: tuple[str, ...] | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is no condition and no report to write."""
        return self.report is None and self.minimum is None and self.allowed is None

    def judged(self, server: SandboxServer | None, run: str, tests: Mapping[str, str]) -> tuple[list[str], bool]:
        """The lines to show at the end of a run, and whether it meets the conditions. Writes the report.

        :param server: None if the run has used no server.
        :param tests: the names of tests by the keys of their projects.
        """
        wanted = {"min": self.minimum, "of": self.of, "allow": self.allowed, "noFindings": self.allowed is not None}
        asked: dict[str, Any] = {name: each for name, each in wanted.items() if each is not None}
        try:
            if server is None:
                raise SandboxError("no test has used a project of the sandbox")
            made: dict[str, Any] = json.loads(server.run_report(run, **asked))
            lines = [_summary(made)]
            if self.report is not None:
                self.report.parent.mkdir(parents=True, exist_ok=True)
                self.report.write_bytes(server.run_report(run, FORMS[self.report.suffix.lower()], **asked))
                lines.append(f"report: {self.report}")
        except (SandboxError, OSError) as error:
            return [f"no report on the client: {(isinstance(error, SandboxError) and error.refusal) or error}"], False
        lines += made["gate"]["told"].splitlines()
        if self.allowed is not None:
            keys = {each["projectKey"]: None for finding in made["findings"] for each in finding["examples"][:3]}
            lines += [f"{key} was of {tests[key]}" for key in keys if key in tests]
        return lines, made["gate"]["passed"]


def refusal_of(server: SandboxServer, run: str, allowed: Sequence[str]) -> str | None:
    """The message of a server that does not know some of the findings; None if it knows all, or does not answer."""
    try:
        server.run_report(run, allow=allowed)
    except SandboxError as error:
        return error.refusal
    return None


def _summary(made: Mapping[str, Any]) -> str:
    shares = ", ".join(f"{kind} {each['percent']} %" for kind, each in made["exercised"].items() if each["met"])
    return f"run {made['run']}: {made['requests']['total']} requests; {shares or 'nothing'} exercised"


def report_file(text: str) -> Path:
    """Read the value of ``--sample-report``.

    :raises ValueError: if the suffix belongs to no form of reports.
    """
    path = Path(text)
    if path.suffix.lower() not in FORMS:
        raise ValueError(f"a file that ends with {', '.join(FORMS)} is expected, and not {text!r}")
    return path.absolute()


def percentage(text: str) -> int:
    """Read the value of ``--sample-min``.

    :raises ValueError: if the text is no percentage.
    """
    if not text.isascii() or not text.isdigit() or int(text) > 100:
        raise ValueError(f"a number from 0 to 100 is expected, and not {text!r}")
    return int(text)


def findings_allowed(text: str) -> tuple[str, ...]:
    """Read the value of ``--sample-findings``: ``none``, or a file with an id in each line. ``#`` begins a comment.

    :raises ValueError: if the file cannot be read.
    """
    if text == "none":
        return ()
    try:
        lines = Path(text).read_text("utf-8").splitlines()
    except OSError as error:
        raise ValueError(f"'none' or a file is expected: {error}") from None
    words = (line.partition("#")[0].strip() for line in lines)
    return tuple(dict.fromkeys(word for word in words if word))


def names_counted(text: str) -> tuple[str, ...]:
    """Read the value of ``--sample-of``."""
    return tuple(dict.fromkeys(each.strip() for each in text.split(",")))
