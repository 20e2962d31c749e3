"""Tokens and secrets are in no output of the journal, as far as its document promises; everything else is."""

import base64
import json
import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.sandbox.journal.entry import BODY_BYTES_KEPT, BODY_BYTES_NOTED, Entry, Message
from app.sandbox.journal.har import archive
from app.sandbox.journal.redaction import PLACE, Secrets, redacted
from tests.support.effort import assert_under_50_ms
from tests.support.journals import an_entry

SECRET = "qUe-l_9fKx0Zr3TnB7vYcH5sWdE1oGm2JiA8pR6tLyN"
TOKEN = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJjbGllbnQifQ.c2lnbmF0dXJl-_xbmF0dXJl"
FIXED = "the-token.of+the/sandbox~1=="
KNOWN = Secrets(SECRET, FIXED)

SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "percent": lambda text: "".join(f"%{ord(each):02X}" for each in text),
    "some percent": lambda text: "".join(f"%{ord(each):02x}" if n % 3 else each for n, each in enumerate(text)),
    "quoted": lambda text: quote(text, safe=""),
    "json": lambda text: "".join(f"\\u{ord(each):04x}" for each in text),
    "some json": lambda text: "".join(f"\\u{ord(each):04X}" if n % 5 == 0 else each for n, each in enumerate(text)),
    "slashes": lambda text: text.replace("/", "\\/"),
    "basic": lambda text: base64.b64encode(f"the-client:{text}".encode()).decode(),
    "base64url": lambda text: base64.urlsafe_b64encode(f"the-client-id:{text}".encode()).decode().rstrip("="),
}


def outputs(noted: Entry) -> list[str]:
    """All that shows an entry."""
    described = noted.described(KNOWN)
    return [json.dumps(described), "".join(archive([described], "http://localhost"))]


@pytest.mark.parametrize("where", ["target", "header", "name", "body", "answer", "rule", "finding"])
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("secret", [SECRET, TOKEN, FIXED])
def test_no_promised_spelling_of_a_secret_is_in_any_output(secret: str, spelling: str, where: str) -> None:
    if secret == TOKEN and spelling in ("basic", "base64url"):
        return  # a token is told by its form, which base64 hides; nobody sends it so
    sent = SPELLINGS[spelling](secret)
    surrounded = f"before {sent} after".encode()
    noted = {
        "target": lambda: an_entry(target=f"/p/{sent}?x={sent}&y=1"),
        "header": lambda: an_entry(request=Message(f"User-Agent: {sent}\r\nX: y".encode())),
        "name": lambda: an_entry(request=Message(((sent, "value"),)), method=sent, correlation_id=sent),
        "body": lambda: an_entry(request=Message((), surrounded, len(surrounded))),
        "answer": lambda: an_entry(answer=Message((("Location", sent),), surrounded, len(surrounded))),
        "rule": lambda: an_entry(rule={"name": sent, "all": [{"name": sent, "number": 0}]}),
        "finding": lambda: an_entry(findings=[_Finding(sent)]),
    }[where]()
    for output in outputs(noted):
        assert sent not in output
        assert secret not in output


class _Finding:
    def __init__(self, detail: str) -> None:
        self.detail = detail

    def described(self) -> dict[str, str]:
        return {"detail": self.detail}


def test_of_a_refused_or_encoded_body_nothing_is_shown() -> None:
    body = b"grant_type=client_credentials&x=anything"
    for noted in (
        an_entry(status=401, request=Message((), body, len(body))),
        an_entry(request=Message((("Content-Encoding", "gzip"),), body, len(body))),
    ):
        shown = noted.described(KNOWN)["request"]["body"]
        assert (shown["size"], shown["text"], bool(shown["leftOut"])) == (len(body), "", True)


@settings(max_examples=80, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=400))
def test_everything_else_is_shown(text: str) -> None:
    if re.search("token|secret|passw|assertion|key|credential|authorization|signature|eyJ", text, re.I):
        return
    assert redacted(text, KNOWN) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"token": "abc", "tokens": 5}', '{"token": "(redacted)", "tokens": 5}'),
        ('{"client_secret": 12345678, "a": null}', '{"client_secret": (redacted), "a": null}'),
        ('{"token_type": "Bearer", "expires_in": 1}', '{"token_type": "Bearer", "expires_in": 1}'),
        ('{"client_secret": "ab\\"c", "a": 1}', '{"client_secret": "(redacted)", "a": 1}'),
        ('{"client_secret": "not fin', '{"client_secret": "(redacted)'),
        ("client%5Fsecret=a%26b&c=d", "client%5Fsecret=(redacted)&c=d"),
        (f"x={SECRET}y", "x=(redacted)y"),
        (f'{{"key": "{"a" * 300}", "eyJ": "x"}}', f'{{"key": "{"a" * 300}", "eyJ": "x"}}'),
    ],
)
def test_as_little_as_possible_is_left_out(text: str, kept: str) -> None:
    assert redacted(text, KNOWN) == kept


@pytest.mark.parametrize("part", ["eyJ", "eyJ.", 'token"', "secret=", "%25", "\\u0041", '{"secret": "', 'token" : '])
def test_it_takes_little_time_whatever_is_repeated(part: str) -> None:
    text = part * (BODY_BYTES_NOTED // len(part))
    assert_under_50_ms(lambda: redacted(text, KNOWN), ValueError)


@pytest.mark.parametrize("shown", range(1, len(SECRET) + 1, 6))
def test_a_secret_that_the_end_of_a_body_cuts_in_two(shown: int) -> None:
    body = (" " * (BODY_BYTES_KEPT - shown) + SECRET + " " * 9_000).encode()
    entry = an_entry(request=Message((), body[:BODY_BYTES_NOTED], len(body)))
    text = entry.described(KNOWN)["request"]["body"]["text"]
    assert SECRET[:2] not in text
    assert text.strip() == PLACE[: len(text.strip())]
