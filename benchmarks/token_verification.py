"""Measures the cost of a bearer token for a request: verified each time, or cached by its digest.

Run it with ``python -m benchmarks.token_verification`` in the repository's folder. It starts an embedded PostgreSQL.
The two variants take turns, so that other work on the machine slows down both alike. It prints the medians of the
rounds, and the median and the range of the ratios of neighbouring rounds.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
import psycopg
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from app.config import Settings
from app.database import migrate
from app.identity import clients, issued_tokens, signing_keys
from app.identity.server import AuthorizationServer
from app.identity.verification import TokenVerifier
from app.serving.embedded import EmbeddedPostgres

ROUNDS = 40
CALLS_PER_ROUND = 300


def cpu_us(call: Callable[[], object], calls: int) -> float:
    """The processor time of a call, in microseconds."""
    began = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - began) / calls * 1e6


def compare(title: str, without: Callable[[], object], remembered: Callable[[], object], calls: int) -> None:
    """Measure both in turn and print one line."""
    for warm_up in (without, remembered):
        cpu_us(warm_up, 20)
    rounds = [(cpu_us(without, calls), cpu_us(remembered, calls)) for _ in range(ROUNDS)]
    ratios = sorted(slow / fast for slow, fast in rounds)
    click.echo(
        f"{title:<34} each time {statistics.median(slow for slow, _ in rounds):8.1f} µs"
        f"   remembered {statistics.median(fast for _, fast in rounds):8.1f} µs"
        f"   ratio {statistics.median(ratios):6.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    )


def requests_of(app: Flask, path: str, token: str) -> Callable[[], object]:
    client: FlaskClient = app.test_client()
    headers = {"Authorization": f"Bearer {token}"}

    def send() -> None:
        answer = client.get(path, headers=headers)
        if answer.status_code != 200:
            raise SystemExit(answer.text)

    return send


def app_that_remembers(settings: Settings, tokens: int) -> tuple[Flask, TokenVerifier]:
    """An application whose verifier caches at most this number of tokens."""
    app = create_app(settings)
    server: AuthorizationServer = app.extensions["authorization_server"]
    server.verifier.cache_size = tokens
    return app, server.verifier


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        Path(folder).chmod(0o755)
        with EmbeddedPostgres(Path(folder) / "data", {"fsync": "off"}) as server:
            measure(server.conninfo())


def measure(url: str) -> None:
    migrate.upgrade(url)
    settings = Settings(database_url=url, log_format="json")
    with psycopg.connect(url, autocommit=True) as connection:
        signing_keys.ensure_signing_key(connection)
        token = issued_tokens.issue_token(
            connection, settings.issuer, "benchmark", ("manage_test:p", "view_test:p"), 3600
        )
    plain, plain_verifier = app_that_remembers(settings, 0)
    keeping, keeping_verifier = app_that_remembers(settings, 4096)
    try:
        compare(
            "verifying the token alone",
            lambda: plain_verifier.verify(token),
            lambda: keeping_verifier.verify(token),
            CALLS_PER_ROUND,
        )
        compare(
            "GET /p/resource?limit=1, whole",
            requests_of(plain, "/p/resource?limit=1", token),
            requests_of(keeping, "/p/resource?limit=1", token),
            CALLS_PER_ROUND // 3,
        )
        token_endpoint(keeping, url)
        snapshot(url)
    finally:
        for app in (plain, keeping):
            app.extensions["database"].close()


def token_endpoint(app: Flask, url: str) -> None:
    """Print the cost of requests for a token: granted, with a wrong secret, and of an unknown client."""
    with psycopg.connect(url, autocommit=True) as connection:
        made = clients.create_client(connection, "benchmark", ("manage_test:p",))
    client = app.test_client()

    def post(client_id: str, secret: str) -> Callable[[], object]:
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
        return lambda: client.post("/oauth/token", data=form)

    for title, send in (
        ("POST /oauth/token, granted", post(made.client_id, made.client_secret)),
        ("POST /oauth/token, wrong secret", post(made.client_id, "wrong")),
        ("POST /oauth/token, unknown client", post("unknown", "wrong")),
    ):
        cpu_us(send, 20)
        click.echo(f"{title:<34} {statistics.median(cpu_us(send, 50) for _ in range(ROUNDS)):8.1f} µs")


def snapshot(url: str) -> None:
    """What it costs to refresh the snapshot of revocations, which each process does every two seconds at most."""
    with psycopg.connect(url, autocommit=True) as connection:
        for revoked in (0, 10_000):
            connection.execute("DELETE FROM revoked_token")
            connection.execute(
                "INSERT INTO revoked_token (id, revoked_at, expires_at)"
                " SELECT gen_random_uuid(), now() - interval '1 hour', now() + interval '1 day'"
                " FROM generate_series(1, %s)",
                (revoked,),
            )
            since = issued_tokens.load_trust(connection, None).as_of
            for title, from_when in (("all of them", None), ("what is new", since)):
                times: list[float] = []
                for _ in range(ROUNDS):
                    began = time.perf_counter()
                    issued_tokens.load_trust(connection, from_when)
                    times.append((time.perf_counter() - began) * 1e6)
                click.echo(f"{revoked} revocations, {title:<17} {statistics.median(times):10.1f} µs of time")


if __name__ == "__main__":
    main()
