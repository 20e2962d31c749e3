"""What the log lines rely on in Python's logging and json, partly undocumented.

``app/telemetry/logs.py`` writes the line of a request without logging's records and handlers, and handles records
without a lock. A failure means that a new version of Python has changed what that relies on.
"""

import inspect
import json
import logging
from json.encoder import encode_basestring_ascii

import pytest

from app.telemetry.logs import JsonLines, json_line

LOOK_AT = "app/telemetry/logs.py has to be adapted"


@pytest.mark.parametrize("text", ["plain", 'a "quoted" one', "line\nbreak", "\x00\x1b[2J", "Grüße 😀", "\ud800"])
def test_strings_are_escaped_as_json_does(text: str) -> None:
    assert encode_basestring_ascii(text) == json.dumps(text), LOOK_AT


def test_a_request_line_is_what_the_formatter_makes_of_a_record() -> None:
    fields = {"method": "GET", "status": 200, "duration_ms": 1.5, "project": "a\nb"}
    record = logging.LogRecord("app.request", logging.INFO, "", 0, "request", (), None)
    record.__dict__["fields"] = fields
    assert json_line(record.created, logging.INFO, "request", fields) == JsonLines().format(record), LOOK_AT


def test_a_handler_handles_a_record_by_filtering_and_emitting_it() -> None:
    assert list(inspect.signature(logging.Handler.handle).parameters) == ["self", "record"], LOOK_AT
    source = inspect.getsource(logging.Handler.handle)
    assert "self.filter(record)" in source, LOOK_AT
    assert "self.emit(record)" in source, LOOK_AT


def test_loggers_have_the_attributes_that_decide_about_the_short_way() -> None:
    logger = logging.getLogger("app.a-test")
    assert (logger.handlers, logger.propagate) == ([], True), LOOK_AT
