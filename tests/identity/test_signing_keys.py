"""Signing keys: published, rotated with overlap, encrypted at rest."""

import base64
import json
import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import psycopg
import pytest
from click.testing import CliRunner
from flask import Flask
from joserfc import jwt
from joserfc.jwk import KeySet

from app import cli, create_app
from app.config import InvalidSetting, Settings
from app.database import migrate
from app.database.connection import Connection
from app.identity import issued_tokens, own_issuer, signing_keys, token_profile
from app.identity.signing_keys import KeyEncryption, KeyUnreadable
from app.serving.preparation import prepare
from tests.support.api import Api, codes
from tests.support.cluster import Cluster
from tests.support.oauth import OAuthClient, part
from tests.support.waiting import wait_until

PROJECT = "keys"


@pytest.fixture
def own_database(cluster: Cluster) -> str:
    """A database whose signing keys no other test uses."""
    url = cluster.create_database(f"keys_{secrets.token_hex(8)}")
    migrate.upgrade(url)
    return url


@pytest.fixture
def keys(own_database: str) -> Iterator[Connection]:
    with psycopg.connect(own_database, autocommit=True) as opened:
        signing_keys.ensure_signing_key(opened)
        yield opened


@pytest.fixture
def workers(settings: Settings, own_database: str, keys: Connection) -> Iterator[list[Flask]]:
    """Two workers that have answered a request, and so have loaded the first key."""
    made = [create_app(replace(settings, database_url=own_database)) for _ in range(2)]
    for worker in made:
        assert worker.test_client().get("/.well-known/jwks.json").status_code == 200
    yield made
    for worker in made:
        worker.extensions["database"].close()


def issue(keys: Connection, lifetime_s: int = 60, encryption: KeyEncryption = signing_keys.NO_ENCRYPTION) -> str:
    scopes = (f"manage_test:{PROJECT}",)
    return issued_tokens.issue_token(keys, Settings().issuer, "someone", scopes, lifetime_s, encryption)


def statuses(workers: list[Flask], token: str) -> list[int]:
    return [Api(worker, PROJECT, token).get().status_code for worker in workers]


def states(keys: Connection) -> list[str]:
    return [key.state for key in signing_keys.list_signing_keys(keys)]


def let_time_pass(keys: Connection, seconds: float) -> None:
    """Make every key older."""
    keys.execute(
        "UPDATE signing_key SET created_at = created_at - make_interval(secs => %(s)s),"
        " signs_from = signs_from - make_interval(secs => %(s)s),"
        " retired_at = retired_at - make_interval(secs => %(s)s),"
        " longest_token_until = longest_token_until - make_interval(secs => %(s)s)",
        {"s": seconds},
    )


def test_a_new_key_is_published_before_it_signs_and_the_old_one_verifies(
    keys: Connection, workers: list[Flask]
) -> None:
    before = issue(keys)
    signing_keys.rotate_signing_key(keys)
    assert states(keys) == ["signs", "published"]
    assert part(issue(keys), 0)["kid"] == part(before, 0)["kid"]
    let_time_pass(keys, signing_keys.PUBLISHED_BEFORE_IT_SIGNS_S + 1)
    assert states(keys) == ["verifies", "signs"]
    after = issue(keys)
    assert part(after, 0)["kid"] != part(before, 0)["kid"]
    assert statuses(workers, before) == [200, 200]
    assert statuses(workers, after) == [200, 200]


def test_workers_know_a_new_key_before_it_signs(
    keys: Connection, workers: list[Flask], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a look for an unknown key id."""
    assert own_issuer.REFRESH_AFTER_S < signing_keys.PUBLISHED_BEFORE_IT_SIGNS_S / 10
    signing_keys.rotate_signing_key(keys)
    time.sleep(own_issuer.REFRESH_AFTER_S)
    find_key = own_issuer.OwnIssuer.find_key
    monkeypatch.setattr(
        own_issuer.OwnIssuer, "find_key", lambda issuer, kid, **_: find_key(issuer, kid, look_again=False)
    )
    for worker in workers:
        published = worker.test_client().get("/.well-known/jwks.json").get_json()
        assert len(published["keys"]) == 2
    let_time_pass(keys, signing_keys.PUBLISHED_BEFORE_IT_SIGNS_S + 1)
    assert statuses(workers, issue(keys)) == [200, 200]


def test_all_tokens_stay_valid_while_keys_rotate_often(keys: Connection, workers: list[Flask]) -> None:
    tokens: list[str] = []
    for _ in range(5):
        tokens.append(issue(keys))
        signing_keys.rotate_signing_key(keys)
        let_time_pass(keys, signing_keys.PUBLISHED_BEFORE_IT_SIGNS_S + 1)
    assert len({part(token, 0)["kid"] for token in tokens}) == 5
    time.sleep(own_issuer.REFRESH_AFTER_S)
    for token in tokens:
        assert statuses(workers, token) == [200, 200]


def test_a_key_verifies_as_long_as_the_last_token_it_may_have_signed(keys: Connection) -> None:
    issue(keys, token_profile.TOKEN_LIFETIME_S)
    signing_keys.rotate_signing_key(keys)
    let_time_pass(keys, signing_keys.PUBLISHED_BEFORE_IT_SIGNS_S)
    let_time_pass(keys, token_profile.TOKEN_LIFETIME_S)
    assert states(keys) == ["verifies", "signs"]
    let_time_pass(keys, 301)
    assert states(keys) == ["retired", "signs"]
    assert len(issued_tokens.load_trust(keys).public_jwks) == 1


@pytest.mark.parametrize("rotated_first", [False, True])
def test_a_key_verifies_longer_if_it_signed_a_token_with_a_longer_lifetime(
    keys: Connection, rotated_first: bool
) -> None:
    year_s = 31_536_000
    if rotated_first:
        signing_keys.rotate_signing_key(keys)
    issue(keys, year_s)
    if not rotated_first:
        signing_keys.rotate_signing_key(keys)
    let_time_pass(keys, year_s)
    assert states(keys) == ["verifies", "signs"]
    let_time_pass(keys, 301)
    assert states(keys) == ["retired", "signs"]


def test_a_leaked_key_is_replaced_at_once_and_its_tokens_are_refused(
    keys: Connection, workers: list[Flask], own_database: str
) -> None:
    before = issue(keys)
    assert statuses(workers, before) == [200, 200]
    printed = command(own_database, "key", "rotate", "--at-once")
    assert [json.loads(line)["state"] for line in printed.splitlines()] == ["retired", "signs"]
    wait_until(lambda: statuses(workers, before) == [401, 401])
    assert statuses(workers, issue(keys)) == [200, 200]


def test_a_key_that_replaces_a_leaked_one_signs_at_once(keys: Connection) -> None:
    """``now()`` stands still in a transaction, so a time that is rounded up to a millisecond would lie after it."""
    for _ in range(20):
        with keys.transaction():
            before = signing_keys.current_signing_key(keys, signing_keys.NO_ENCRYPTION).kid
            signing_keys.rotate_signing_key(keys, others_at_once=True)
            assert signing_keys.current_signing_key(keys, signing_keys.NO_ENCRYPTION).kid != before


def test_keys_are_listed_without_anything_secret(keys: Connection, own_database: str) -> None:
    command(own_database, "key", "rotate")
    printed = command(own_database, "key", "list")
    old, new = (json.loads(line) for line in printed.splitlines())
    assert set(old) == {"kid", "state", "created_at", "signs_from", "verifies_until", "encrypted"}
    assert (old["state"], new["state"]) == ("signs", "published")
    assert "verifies_until" not in new
    for (stored,) in keys.execute("SELECT private_jwk FROM signing_key").fetchall():
        assert json.loads(stored)["d"] not in printed


def test_rotations_at_the_same_time_leave_one_key_to_sign(keys: Connection, own_database: str) -> None:
    def rotate(_: int) -> bool:
        with psycopg.connect(own_database, autocommit=True) as another:
            try:
                signing_keys.rotate_signing_key(another)
            except LookupError:
                return False
            return True

    with ThreadPoolExecutor(8) as threads:
        succeeded = sum(threads.map(rotate, range(8)))
    assert succeeded >= 1
    assert len(states(keys)) == 1 + succeeded
    assert states(keys).count("signs") == 1
    assert issue(keys)


def command(database_url: str, *arguments: str, **environment: str) -> str:
    result = CliRunner().invoke(cli.main, arguments, env={"DATABASE_URL": database_url, **environment})
    assert result.exit_code == 0, result.output
    return result.output


# Encryption at rest


ONE, ANOTHER = (KeyEncryption((bytes([number]) * 32,)) for number in (1, 2))


@pytest.fixture
def stored(keys: Connection) -> Callable[[], list[str]]:
    return lambda: [
        row[0] for row in keys.execute("SELECT private_jwk FROM signing_key ORDER BY created_at").fetchall()
    ]


def text_of(number: int) -> str:
    return base64.b64encode(bytes([number]) * 32).decode()


def test_an_encrypted_key_signs_and_is_not_readable_in_the_database(own_database: str, keys: Connection) -> None:
    signing_keys.rotate_signing_key(keys, ONE, others_at_once=True)
    row = keys.execute("SELECT private_jwk, public_jwk FROM signing_key ORDER BY created_at DESC LIMIT 1").fetchone()
    assert row is not None
    assert row[0].count(".") == 4  # a JWE in compact form
    assert "d" not in json.loads(row[1])
    token = issue(keys, encryption=ONE)
    published = [json.loads(text) for text in issued_tokens.load_trust(keys).public_jwks]
    assert jwt.decode(token, KeySet.import_key_set({"keys": published}), algorithms=["ES256"]).claims


def test_without_the_right_encryption_key_the_error_names_the_setting(keys: Connection) -> None:
    signing_keys.rotate_signing_key(keys, ONE, others_at_once=True)
    with pytest.raises(KeyUnreadable, match="KEY_ENCRYPTION_KEY is not set"):
        issue(keys)
    with pytest.raises(KeyUnreadable, match="KEY_ENCRYPTION_KEY is another key"):
        issue(keys, encryption=ANOTHER)


def test_the_service_does_not_start_with_a_wrong_encryption_key(
    settings: Settings, own_database: str, keys: Connection
) -> None:
    signing_keys.rotate_signing_key(keys, ONE, others_at_once=True)
    with pytest.raises(KeyUnreadable, match="another key"):
        prepare(own_database, replace(settings, key_encryption_keys=(bytes([2]) * 32,)))
    result = CliRunner().invoke(cli.main, ["token", "--scope", "view_test:p"], env={"DATABASE_URL": own_database})
    assert result.exit_code == 1
    assert result.output.startswith("Error: The signing key in the database is encrypted, and KEY_ENCRYPTION_KEY")
    assert "curl" in prepare(own_database, replace(settings, key_encryption_keys=(bytes([1]) * 32,)))


def test_a_worker_without_the_encryption_key_verifies_tokens_and_signs_none(
    settings: Settings, own_database: str, keys: Connection
) -> None:
    signing_keys.rotate_signing_key(keys, ONE, others_at_once=True)
    worker = create_app(replace(settings, database_url=own_database))
    try:
        client = OAuthClient(worker, keys, f"manage_test:{PROJECT}")
        answer = client.grant()
        assert answer.status_code == 503
        assert codes(answer) == ["OverCapacity"]
        assert "KEY_ENCRYPTION_KEY" not in answer.text
        assert Api(worker, PROJECT, issue(keys, encryption=ONE)).get().status_code == 200
    finally:
        worker.extensions["database"].close()


def test_keys_can_be_encrypted_later_and_with_another_encryption_key(
    own_database: str, keys: Connection, stored: Callable[[], list[str]]
) -> None:
    signing_keys.rotate_signing_key(keys)
    plain = stored()
    one, another, both = text_of(1), text_of(2), f"{text_of(2)}, {text_of(1)}"
    assert command(own_database, "key", "encrypt", KEY_ENCRYPTION_KEY=one) == "2 keys are stored encrypted.\n"
    assert all(KeyEncryption.is_encrypted(text) for text in stored())
    refused = CliRunner().invoke(
        cli.main, ["key", "encrypt"], env={"DATABASE_URL": own_database, "KEY_ENCRYPTION_KEY": another}
    )
    assert refused.exit_code == 1
    assert issue(keys, encryption=ONE)
    command(own_database, "key", "encrypt", KEY_ENCRYPTION_KEY=both)
    assert issue(keys, encryption=ANOTHER)
    assert [json.loads(ANOTHER.decrypt(text)) for text in stored()] == [json.loads(text) for text in plain]


def test_an_encryption_key_is_checked_at_the_start_and_never_shown() -> None:
    secret = "not-so-secret-but-still"
    with pytest.raises(InvalidSetting) as raised:
        Settings.from_environment({"KEY_ENCRYPTION_KEY": secret})
    assert "openssl rand -base64 32" in str(raised.value)
    assert secret not in str(raised.value)
    good = text_of(7)
    settings = Settings.from_environment({"KEY_ENCRYPTION_KEY": good})
    assert settings.key_encryption_keys == (bytes([7]) * 32,)
    assert "key_encryption_keys" not in repr(settings)
    for form in (good.rstrip("="), base64.urlsafe_b64encode(bytes([251]) * 32).decode(), f"{good},{text_of(8)}"):
        assert Settings.from_environment({"KEY_ENCRYPTION_KEY": form}).key_encryption_keys
