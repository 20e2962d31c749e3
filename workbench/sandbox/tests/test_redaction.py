"""Tokens and secrets are in no output of the journal, as far as its document promises; everything else is."""

import json

import pytest
from journals import an_entry
from sample_resource_sandbox.journal.entry import BODY_BYTES_KEPT, Entry, Message
from sample_resource_sandbox.journal.har import archive
from sample_resource_sandbox.journal.redaction import Secrets

from tests.support.effort import assert_under_50_ms

SECRET = "qUe-l_9fKx0Zr3TnB7vYcH5sWdE1oGm2JiA8pR6tLyN"
TOKEN = "aB3-dE5_gH7jK9mN1pQ2rS4tU6vW8xY0zA-cE_gI2kM"
FIXED = "the-token.of+the/sandbox~1=="
KNOWN = Secrets(SECRET, FIXED)

KNOWN.add_token(TOKEN)


def outputs(noted: Entry) -> list[str]:
    """All that shows an entry."""
    described = noted.described(KNOWN)
    return [json.dumps(described), "".join(archive([described], "http://localhost"))]


@pytest.mark.parametrize("where", ["target", "header", "name", "body", "answer", "rule", "finding"])
@pytest.mark.parametrize("secret", [SECRET, TOKEN, FIXED])
def test_no_secret_is_in_any_output(secret: str, where: str) -> None:
    surrounded = f"before {secret} after".encode()
    noted = {
        "target": lambda: an_entry(target=f"/p/{secret}?x={secret}&y=1"),
        "header": lambda: an_entry(request=Message((("User-Agent", secret), ("X", "y")))),
        "name": lambda: an_entry(request=Message(((secret, "value"),)), method=secret, correlation_id=secret),
        "body": lambda: an_entry(request=Message((), surrounded, len(surrounded))),
        "answer": lambda: an_entry(answer=Message((("Location", secret),), surrounded, len(surrounded))),
        "rule": lambda: an_entry(rule={"name": secret, "did": secret, "all": [secret], "replacedStatus": None}),
        "finding": lambda: an_entry(findings=({"detail": secret},)),
    }[where]()
    for output in outputs(noted):
        assert secret not in output


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"x={SECRET}y", "x=(secret)y"),
        (f"a-{TOKEN}.", "a-(secret)."),
        (f"{TOKEN}.v1 {TOKEN}-x y{TOKEN}{TOKEN}", "(secret).v1 (secret)-x y(secret)(secret)"),
        (TOKEN[:-1], None),
        ('{"client_secret": "another", "access_token": "bB3-dE5_gH7jK9mN1pQ2rS4tU6vW8xY0zA-cE_gI2kM"}', None),
        ("client%5Fsecret=a%26b&c=d", None),
    ],
)
def test_nothing_is_guessed(text: str, kept: str | None) -> None:
    assert KNOWN.redacted(text) == (text if kept is None else kept)


@pytest.mark.parametrize("part", ["aB3", TOKEN[:21], TOKEN, 'token" : '])
def test_it_takes_little_time_whatever_is_repeated(part: str) -> None:
    text = part * (BODY_BYTES_KEPT // len(part))
    assert_under_50_ms(lambda: KNOWN.redacted(text), ValueError)
