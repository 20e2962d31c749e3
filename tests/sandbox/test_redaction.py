"""Tokens and secrets are in no output of the journal, whatever a client's spelling; everything else is."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable
from urllib.parse import quote, unquote, unquote_plus

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.sandbox.journal.exchange import BODY_BYTES_KEPT, BODY_BYTES_NOTED, Exchange, HttpMessage
from app.sandbox.journal.redaction import PLACE, SHOWN_HEADERS, Secrets, redacted
from app.sandbox.journal.texts import row_of
from app.sandbox.reading.har import archive
from tests.support.journals import exchange, kept_entry, read_entries

SECRET = "qUe-l_9fKx0Zr3TnB7vYcH5sWdE1oGm2JiA8pR6tLyN"
TOKEN = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJjbGllbnQifQ.c2lnbmF0dXJl-_xbmF0dXJl"
FIXED = "the-token.of+the/sandbox~1=="
KNOWN = Secrets(hashlib.sha256(SECRET.encode()).digest(), (FIXED,))

Spell = Callable[[str], str]

SPELLINGS: dict[str, Spell] = {
    "as it is": lambda text: text,
    "percent": lambda text: "".join(f"%{ord(each):02X}" for each in text),
    "some percent": lambda text: "".join(f"%{ord(each):02x}" if n % 3 else each for n, each in enumerate(text)),
    "quoted": lambda text: quote(text, safe=""),
    "json": lambda text: "".join(f"\\u{ord(each):04x}" for each in text),
    "some json": lambda text: "".join(f"\\u{ord(each):04X}" if n % 5 == 0 else each for n, each in enumerate(text)),
    "html": lambda text: "".join(f"&#{ord(each)};" for each in text),
    "html in hexadecimal": lambda text: "".join(f"&#x{ord(each):x};" for each in text),
    "hexadecimal": lambda text: "".join(f"\\x{ord(each):02x}" for each in text),
    "slashes": lambda text: text.replace("/", "\\/"),
    "basic": lambda text: base64.b64encode(f"the-client:{text}".encode()).decode(),
    "base64url": lambda text: base64.urlsafe_b64encode(f"the-client-id:{text}".encode()).decode().rstrip("="),
}

spellings = st.lists(st.sampled_from(sorted(SPELLINGS)), min_size=1, max_size=3)
texts = st.text(st.characters(min_codepoint=32, max_codepoint=1000), max_size=30)
secrets = st.sampled_from([SECRET, TOKEN, FIXED])
headers = st.sampled_from([*sorted(SHOWN_HEADERS), "Authorization", "Cookie", "X-Access-Token", "X-Anything"])


def spelt(text: str, names: list[str]) -> str:
    for name in names:
        text = SPELLINGS[name](text)
    return text


def outputs(noted: Exchange) -> list[str]:
    """All that shows an entry."""
    entry = row_of(noted, KNOWN.values).entry
    read = read_entries([kept_entry(1, entry)])
    return [entry, read[0][1], archive(read, "http://localhost")]


DECODERS: tuple[Callable[[str], str], ...] = (
    unquote,
    unquote_plus,
    html.unescape,
    lambda text: re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text),
    lambda text: re.sub(r"\\x([0-9a-fA-F]{2})", lambda match: chr(int(match[1], 16)), text),
    lambda text: text.replace("\\/", "/").replace('\\"', '"').replace("\\\\", "\\"),
    lambda text: text.replace("\0", ""),
    lambda text: re.sub(r"[A-Za-z0-9+/_-]{40,}={0,2}", _from_base64, text),
)


def _from_base64(match: re.Match[str]) -> str:
    run = match[0].rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(run[: len(run) // 4 * 4]).decode("latin-1") + match[0][-3:]


def leaks(text: str, secret: str) -> bool:
    """Whether a secret is in a text, or in what somebody makes of it who decodes it."""
    seen, left = {text}, [text]
    while left:
        each = left.pop()
        if secret in each:
            return True
        for decoder in DECODERS:
            decoded = decoder(each)
            if decoded not in seen and len(seen) < 400:
                seen.add(decoded)
                left.append(decoded)
    return False


@settings(max_examples=100, deadline=None)
@given(
    secrets, spellings, texts, texts, headers, st.sampled_from(["target", "header", "name", "body", "wide", "answer"])
)
@example(SECRET, ["hexadecimal", "some json"], "", "", "x-any", "answer")
def test_no_spelling_of_a_secret_is_in_any_output(
    secret: str, names: list[str], before: str, after: str, header: str, where: str
) -> None:
    sent = spelt(secret, names)
    surrounded = f"{before} {sent} {after}"
    noted = {
        "target": lambda: exchange(
            secret_hash=KNOWN.secret_hash, target=f"/p/{quote(before)}/{sent}?x={sent}&{quote(after)}={sent}"
        ),
        "header": lambda: exchange(
            secret_hash=KNOWN.secret_hash, request=HttpMessage(f"{header}: {sent}\r\nX: y".encode(), b"", 0)
        ),
        "name": lambda: exchange(
            secret_hash=KNOWN.secret_hash,
            request=HttpMessage(((sent, "value"),), b"", 0),
            method=sent,
            correlation_id=sent,
        ),
        "body": lambda: exchange(
            secret_hash=KNOWN.secret_hash, request=HttpMessage((), surrounded.encode(), len(surrounded.encode()))
        ),
        "wide": lambda: exchange(
            secret_hash=KNOWN.secret_hash, request=HttpMessage((), surrounded.encode("utf-16"), 2 * len(surrounded) + 2)
        ),
        "answer": lambda: exchange(
            secret_hash=KNOWN.secret_hash,
            answer=HttpMessage(((header, sent),), json.dumps({"a": [surrounded]}).encode(), 1),
        ),
    }[where]()
    for output in outputs(noted):
        assert not leaks(output, secret)


NAMES = ("client_secret", "clientSecret", "access_token", "password", "X-Api-Key", "refresh_token", "my.token")


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(NAMES), spellings, st.text("abcdefghij&%+ é", min_size=8, max_size=20), st.booleans())
def test_what_goes_by_the_name_of_a_secret_is_left_out(name: str, names: list[str], value: str, as_json: bool) -> None:
    """The value is none that the service knows."""
    names = [each for each in names if each not in ("basic", "base64url", "slashes")]
    value = f"zzz{value}zzz"
    if as_json:
        escaped = spelt(name, [each for each in names if "json" in each][:1])
        sent = f'{{"{escaped}": {json.dumps(value)}, "rest": "stays"}}'
        noted = exchange(secret_hash=KNOWN.secret_hash, request=HttpMessage((), sent.encode(), len(sent.encode())))
    else:
        sent = f"/p?a=b&{spelt(name, [each for each in names if 'percent' in each][:2])}={quote(value)}&rest=stays"
        noted = exchange(secret_hash=KNOWN.secret_hash, target=sent)
    for output in outputs(noted):
        assert "stays" in output
        assert not leaks(output, value)
        assert value[:8] not in unquote(output)


@settings(max_examples=80, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=400))
def test_everything_else_is_shown(text: str) -> None:
    if re.search("token|secret|passw|assertion|key|credential|authorization|signature|eyJ|\\\\|%|&#", text, re.I):
        return
    assert redacted(text, KNOWN) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"token": "abc", "tokens": 5}', '{"token": "(redacted)", "tokens": 5}'),
        ('{"client_secret": 12345678, "a": null}', '{"client_secret": (redacted), "a": null}'),
        ('{"token_type": "Bearer", "expires_in": 1}', '{"token_type": "Bearer", "expires_in": 1}'),
        ('{"cl\\u0069ent_secret": "ab\\"c", "a": 1}', '{"cl\\u0069ent_secret": (redacted), "a": 1}'),
        ('{"text": "{\\"client_secret\\": \\"anything\\"}"}', '{"text": "{\\"client_secret\\": (redacted)"}'),
        ('{"client_secret": "not fin', '{"client_secret": "(redacted)'),
        ("client%5Fsecret=a%26b&c=d", "client%5Fsecret=(redacted)&c=d"),
        (f"x={SECRET}y", "x=(redacted)y"),
    ],
)
def test_as_little_as_possible_is_left_out(text: str, kept: str) -> None:
    assert redacted(text, KNOWN) == kept


def test_a_long_text_without_blanks_loses_its_tail_only() -> None:
    text = "x" * 100_000
    kept = redacted(text, KNOWN, BODY_BYTES_KEPT)
    assert kept.startswith("x" * 20_000)
    assert kept == f"{kept.rstrip(PLACE)}{PLACE}" or len(kept) == BODY_BYTES_KEPT


@pytest.mark.parametrize("shown", range(1, len(SECRET) + 1, 6))
def test_a_secret_that_the_end_of_a_body_cuts_in_two(shown: int) -> None:
    body = (" " * (BODY_BYTES_KEPT - shown) + SECRET + " " * 9_000).encode()
    entry = row_of(
        exchange(secret_hash=KNOWN.secret_hash, request=HttpMessage((), body[:BODY_BYTES_NOTED], len(body))), ()
    ).entry
    assert (
        SECRET[:shown] not in entry.partition('"text"')[2].partition('"truncated"')[0].replace(PLACE, "") or shown < 3
    )
    assert PLACE in entry
