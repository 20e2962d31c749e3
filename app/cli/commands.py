"""All commands of ``sample-resource`` but ``serve``, and what has to be done before the service can run."""

import json
import re
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, wraps
from typing import Any, BinaryIO, TextIO, TypeVar

import click
import psycopg

from app import create_app
from app.bulk import seed as made_up
from app.bulk import transfer
from app.config import Settings
from app.database import distribute, migrate
from app.database.connection import Connection, connect
from app.http.paths import PROJECT_KEY_PATTERN
from app.identity import clients, issued_tokens, signing_keys, token_profile
from app.identity.own_issuer import OwnIssuer
from app.identity.scopes import SCOPE, SCOPE_NAMES
from app.identity.signing_keys import KeyEncryption
from app.identity.verification import InvalidToken, TokenVerifier
from app.resource import store
from app.serving import embedded

Item = TypeVar("Item")

DEMO_PROJECT = "demo"
DEMO_SCOPES = tuple(f"{name}:{DEMO_PROJECT}" for name in SCOPE_NAMES)


class _Scopes(click.ParamType[tuple[str, ...]]):
    """Scopes in one text, separated by spaces."""

    name = "scopes"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        found = tuple(dict.fromkeys(value.split()))
        wrong = [scope for scope in found if SCOPE.fullmatch(scope) is None]
        if wrong or not found:
            self.fail(
                f"{' '.join(wrong) or 'nothing'!r} is no scope. One is NAME:PROJECT, where NAME is"
                f" {', '.join(SCOPE_NAMES[:-1])} or {SCOPE_NAMES[-1]}.",
                param,
                ctx,
            )
        if len(" ".join(found)) > clients.SCOPES_LENGTH_AT_MOST:
            self.fail(f"All scopes together may have {clients.SCOPES_LENGTH_AT_MOST} characters.", param, ctx)
        return found


class _ProjectKey(click.ParamType[str]):
    """The key of a project, as it stands in paths."""

    name = "project"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if re.fullmatch(PROJECT_KEY_PATTERN, value) is None:
            self.fail(f"{value!r} is no project key: 1 to 64 letters, digits, underscores and hyphens.", param, ctx)
        return value


@click.group()
def commands() -> None:
    """Those that :mod:`app.cli` adds to its own."""


@contextmanager
def _url(settings: Settings) -> Generator[str]:
    """The database that a command works on: DATABASE_URL, else the embedded one, started for the command if need be."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    with embedded.database(settings.data_dir) as url:
        yield url


@contextmanager
def _connection(settings: Settings) -> Generator[Connection]:
    with _url(settings) as url, connect(url, settings) as connection:
        yield connection


def _complaining(command: click.Command) -> click.Command:
    """Tell of a database that is away, or not migrated, in one line."""
    original = command.callback

    @wraps(original or command.main)
    def invoke(*arguments: Any, **options: Any) -> Any:
        if original is None:
            return None
        try:
            return original(*arguments, **options)
        except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
            raise click.ClickException("The database is not migrated: run 'sample-resource db upgrade'.") from None
        except (psycopg.Error, embedded.EmbeddedError, migrate.UnsupportedServer, LookupError) as error:
            raise click.ClickException(str(error).strip()) from None

    command.callback = invoke
    return command


@_complaining
@commands.command("prepare", hidden=True)
@click.pass_obj
def print_prepared(settings: Settings) -> None:
    """Prepare the database for the service, and print how to try it: what serve begins with."""
    with _url(settings) as url:
        click.echo(prepare(url, settings))


def prepare(url: str, settings: Settings) -> str:
    """Bring a database to where the service can run on it, and say how to try it.

    Migrates it, makes a signing key if there is none, and the first time a client for the project ``demo``.
    """
    migrate.upgrade(url)
    with connect(url, settings) as connection:
        encryption = KeyEncryption(settings.key_encryption_keys)
        signing_keys.ensure_signing_key(connection, encryption)
        lines: list[str] = []
        if not clients.has_clients(connection):
            client = clients.create_client(connection, "demo", DEMO_SCOPES)
            lines.append(f"Demo client    {client.client_id}")
            lines.append(f"Its secret     {client.client_secret}  (shown this once)")
        token = issued_tokens.issue_token(
            connection, settings.token_issuer, DEMO_PROJECT, DEMO_SCOPES, token_profile.TOKEN_LIFETIME_S, encryption
        )
    host = "127.0.0.1" if settings.bind in ("0.0.0.0", "::") else settings.bind  # noqa: S104 -- compared, not bound
    base = f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"
    return "\n".join(
        (
            f"Serving        {base}",
            f"Documentation  {base}/docs",
            *lines,
            "",
            "Try it:",
            "",
            f"curl -H 'Authorization: Bearer {token}' {base}/{DEMO_PROJECT}/resource",
            "",
        )
    )


@commands.group()
def db() -> None:
    """Migrations."""


@_complaining
@db.command()
@click.pass_obj
def upgrade(settings: Settings) -> None:
    """Apply the migrations that are missing."""
    with _url(settings) as url:
        applied = migrate.upgrade(url)
    for name in applied:
        click.echo(f"applied  {name}")
    if not applied:
        click.echo("Nothing to apply.")


@_complaining
@db.command()
@click.pass_obj
def status(settings: Settings) -> None:
    """List the migrations; exit with 1 if one is missing."""
    with _url(settings) as url:
        migrations = migrate.status(url)
    for migration in migrations:
        click.echo(f"{'applied' if migration.applied else 'missing'}  {migration.id}")
    if not all(migration.applied for migration in migrations):
        sys.exit(1)


@_complaining
@db.command("distribute")
@click.option("--shards", type=click.IntRange(1, 1024), default=32, show_default=True, help="Parts of the data.")
@click.pass_obj
def distribute_(settings: Settings, shards: int) -> None:
    """Spread the projects over the workers of a Citus cluster; can be repeated.

    Needs the extension citus, with its workers registered, and all migrations. Writes wait meanwhile.
    """
    with _bulk_connection(settings) as connection:
        try:
            for step in distribute.distribute(connection, shards):
                click.echo(f"{step.name}  {step.done}")
        except distribute.CannotDistribute as error:
            raise click.ClickException(str(error)) from None


@commands.group()
def client() -> None:
    """API clients."""


@_complaining
@client.command()
@click.option("--name", required=True, help="What the client is called.")
@click.option("--scope", "scopes", type=_Scopes(), required=True, help='For example "manage_test:p view_test:p".')
@click.pass_obj
def create(settings: Settings, name: str, scopes: tuple[str, ...]) -> None:
    """Make a client and print it as JSON, the only time that its secret is shown.

    Makes the first signing key too, without which the client could get no token.
    """
    with _connection(settings) as connection:
        signing_keys.ensure_signing_key(connection, KeyEncryption(settings.key_encryption_keys))
        made = clients.create_client(connection, name, scopes)
    click.echo(
        json.dumps(
            {
                "client_id": made.client_id,
                "client_secret": made.client_secret,
                "name": made.name,
                "scope": " ".join(made.scopes),
            },
            indent=2,
        )
    )


@_complaining
@client.command("list")
@click.pass_obj
def list_clients(settings: Settings) -> None:
    """Print all clients, oldest first, each as a line of JSON."""
    with _connection(settings) as connection:
        for found in clients.list_clients(connection):
            _echo_line(
                client_id=found.client_id,
                name=found.name,
                scope=" ".join(found.scopes),
                created_at=found.created_at,
                revoked_at=found.revoked_at,
            )


@_complaining
@client.command("revoke")
@click.argument("client_id")
@click.pass_obj
def revoke_client(settings: Settings, client_id: str) -> None:
    """Revoke a client for good, and with it all its tokens: within 5 seconds no process accepts them any more."""
    with _connection(settings) as connection:
        revoked = clients.revoke_client(connection, client_id)
    _echo_line(client_id=revoked.client_id, name=revoked.name, revoked_at=revoked.revoked_at)


def _echo_line(**fields: Any) -> None:
    """Print what is known as one line of JSON."""
    known = {name: value for name, value in fields.items() if value is not None}
    click.echo(json.dumps(known, default=lambda time: time.isoformat(timespec="seconds")))


@commands.group()
def key() -> None:
    """Keys that sign access tokens."""


@_complaining
@key.command("list")
@click.pass_obj
def list_keys(settings: Settings) -> None:
    """Print all keys, oldest first, each as a line of JSON.

    Its state: published (signs later), signs, verifies (until verifies_until), retired.
    """
    with _connection(settings) as connection:
        _echo_keys(connection)


def _echo_keys(connection: Connection) -> None:
    for found, state in signing_keys.list_signing_keys(connection):
        _echo_line(
            kid=found.kid,
            state=state,
            created_at=found.created_at,
            signs_from=found.signs_from,
            verifies_until=found.retired_at,
            encrypted=found.encrypted,
        )


@_complaining
@key.command()
@click.option(
    "--at-once",
    is_flag=True,
    help="For a key that has leaked: all other keys end now, and every token issued so far with them.",
)
@click.pass_obj
def rotate(settings: Settings, at_once: bool) -> None:
    """Make a new signing key and print all keys as 'key list' does.

    The new key is published at once and signs a minute later; the one before verifies until its last token has
    expired. Nothing needs a restart, and no valid token fails.
    """
    with _connection(settings) as connection:
        signing_keys.rotate_signing_key(connection, KeyEncryption(settings.key_encryption_keys), others_at_once=at_once)
        _echo_keys(connection)


@_complaining
@key.command()
@click.pass_obj
def encrypt(settings: Settings) -> None:
    """Encrypt all keys anew with the first KEY_ENCRYPTION_KEY, or store them as they are if there is none."""
    with _connection(settings) as connection:
        count = signing_keys.encrypt_signing_keys(connection, KeyEncryption(settings.key_encryption_keys))
    click.echo(f"{count} keys are stored {'encrypted' if settings.key_encryption_keys else 'as they are'}.")


@_complaining
@commands.command()
@click.option("--scope", "scopes", type=_Scopes(), required=True, help='For example "manage_test:p view_test:p".')
@click.option(
    "--lifetime",
    type=click.IntRange(1, 31_536_000),
    default=token_profile.TOKEN_LIFETIME_S,
    show_default=True,
    metavar="SECONDS",
    help="How long the token is valid.",
)
@click.pass_obj
def token(settings: Settings, scopes: tuple[str, ...], lifetime: int) -> None:
    """Print one access token, and nothing else."""
    with _connection(settings) as connection:
        encryption = KeyEncryption(settings.key_encryption_keys)
        signing_keys.ensure_signing_key(connection, encryption)
        text = issued_tokens.issue_token(
            connection, settings.token_issuer, "command-line", scopes, lifetime, encryption
        )
    click.echo(text)


@_complaining
@commands.command("revoke-token")
@click.pass_obj
def revoke_token(settings: Settings) -> None:
    """Revoke the access token on standard input, where no list of processes shows it.

    Within 5 seconds no process accepts it any more.
    """
    text = sys.stdin.read().strip()
    with _connection(settings) as connection:
        issuer = OwnIssuer(settings.token_issuer, partial(issued_tokens.load_trust, connection))
        try:
            verified = TokenVerifier([issuer]).verify(text)
        except InvalidToken as error:
            raise click.ClickException(f"Nothing to revoke, the token is not valid: {error}.") from None
        issued_tokens.revoke_token(connection, str(verified.token_id), verified.expires_at)
    click.echo(f"revoked  {verified.token_id}")


_PROJECT = click.option("--project", "project_key", type=_ProjectKey(), required=True, help="The project's key.")


@_complaining
@commands.command()
@_PROJECT
@click.option("--count", type=click.IntRange(0), required=True, help="How many resources.")
@click.option("--seed", "number", type=int, default=0, show_default=True, help="Another number, other resources.")
@click.pass_obj
def seed(settings: Settings, project_key: str, count: int, number: int) -> None:
    """Load made-up resources: the same for the same project, count and seed. All of them or none."""
    with _bulk_connection(settings) as connection:
        try:
            resources = made_up.resources(project_key, count, number)
            store.copy_in(connection, project_key, _progress("Seeding", resources, count))
        except psycopg.errors.UniqueViolation:
            raise click.ClickException(
                f"The project {project_key} has resources of --seed {number} already; nothing was loaded."
            ) from None


@_complaining
@commands.command()
@_PROJECT
@click.option("--output", type=click.File("w", encoding="utf-8", lazy=True), default="-", help="A file, else stdout.")
@click.pass_obj
def export(settings: Settings, project_key: str, output: TextIO) -> None:
    """Write the project's resources as lines of JSON, in the order of their ids, as of one moment."""
    with _bulk_connection(settings) as connection:
        for line in _progress("Exporting", transfer.export_lines(connection, project_key)):
            output.write(line + "\n")


@_complaining
@commands.command("import")
@_PROJECT
@click.option("--input", "source", type=click.File("rb"), default="-", help="A file, else stdin.")
@click.pass_obj
def import_(settings: Settings, project_key: str, source: BinaryIO) -> None:
    """Read resources as lines of JSON, as export writes them; only objectTypeProperty is required.

    Lines are checked as the API checks bodies. A refused one is reported with its number and reason, the others are
    imported, and the exit code is 1. An import that was interrupted can be started again: what is there is skipped.
    """
    progress = transfer.ImportProgress()
    with _bulk_connection(settings) as connection:
        shown = 0
        for progress in transfer.import_lines(connection, project_key, source, "command-line"):
            for line in progress.newly_refused:
                click.echo(f"line {line.number}: {line.reason}", err=True)
            if progress.read - shown >= _SHOWN_EVERY:
                shown = progress.read
                click.echo(f"{progress.read} lines read", err=True)
    click.echo(
        f"{progress.read} lines: {progress.imported} imported, {progress.present} already there,"
        f" {progress.refused} refused.",
        err=True,
    )
    if progress.refused:
        sys.exit(1)


_SHOWN_EVERY = 10_000
"""Items between two plain lines of progress."""


def _progress(what: str, items: Iterable[Item], count: int | None = None) -> Generator[Item]:
    """Pass items on, telling of them on standard error: by a bar on a terminal, else by a line now and then."""
    if sys.stderr.isatty():
        with click.progressbar(items, length=count, label=what, file=sys.stderr, update_min_steps=500) as bar:
            yield from bar
        return
    number = 0
    for number, item in enumerate(items, start=1):
        yield item
        if number % _SHOWN_EVERY == 0:
            click.echo(f"{what}: {number}{'' if count is None else f' of {count}'}", err=True)
    click.echo(f"{what}: {number}, done.", err=True)


@contextmanager
def _bulk_connection(settings: Settings) -> Generator[Connection]:
    """A connection whose statements may take as long as they need."""
    with _url(settings) as url, connect(url, settings, limited=False) as connection:
        yield connection


@commands.command()
@click.pass_obj
def openapi(settings: Settings) -> None:
    """Print the document of /openapi.json."""
    app = create_app(replace(settings, database_url=settings.database_url or "dbname=none"))
    click.echo(json.dumps(app.extensions["openapi"], indent=2))
