"""The commands for API clients, signing keys and access tokens."""

import json
import sys
from contextlib import nullcontext

import click

from app.cli.common import ScopesParameter, echo_json_line, errors_in_one_line, open_connection
from app.config import Settings
from app.database.connection import Connection
from app.identity import clients, issued_tokens, signing_keys
from app.identity.signing_keys import KeyEncryption
from app.identity.token_profile import TOKEN_LIFETIME_S

_COMMAND_LINE = "command-line"
"""The client id in the tokens of the command ``token``."""

_SCOPES = click.option(
    "--scope", "scopes", type=ScopesParameter(), required=True, help='For example "manage_test:p view_test:p".'
)


@click.group()
def client() -> None:
    """API clients."""


@client.command()
@click.option("--name", required=True, help="The client's name.")
@_SCOPES
@click.pass_obj
@errors_in_one_line
def create(settings: Settings, name: str, scopes: tuple[str, ...]) -> None:
    """Create a client and print it as JSON, with its secret, which is never shown again.

    Creates the first signing key too, without which the client could get no token.
    """
    with open_connection(settings) as connection:
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


@client.command("list")
@click.pass_obj
@errors_in_one_line
def list_clients(settings: Settings) -> None:
    """Print all clients, oldest first, each as a line of JSON."""
    with open_connection(settings) as connection:
        for found in clients.list_clients(connection):
            echo_json_line(
                client_id=found.client_id,
                name=found.name,
                scope=" ".join(found.scopes),
                created_at=found.created_at,
                revoked_at=found.revoked_at,
            )


@client.command("revoke")
@click.argument("client_id")
@click.pass_obj
@errors_in_one_line
def revoke_client(settings: Settings, client_id: str) -> None:
    """Revoke a client for good, and with it all its tokens: within 5 seconds no process accepts them any more."""
    with open_connection(settings) as connection:
        revoked = clients.revoke_client(connection, client_id)
    echo_json_line(client_id=revoked.client_id, name=revoked.name, revoked_at=revoked.revoked_at)


@click.group()
def key() -> None:
    """Keys that sign access tokens."""


@key.command("list")
@click.pass_obj
@errors_in_one_line
def list_keys(settings: Settings) -> None:
    """Print all keys, oldest first, each as a line of JSON.

    Its state: published (signs later), signs, verifies (until verifies_until), retired.
    """
    with open_connection(settings) as connection:
        _echo_keys(connection)


def _echo_keys(connection: Connection) -> None:
    for found in signing_keys.list_signing_keys(connection):
        echo_json_line(
            kid=found.kid,
            state=found.state,
            created_at=found.created_at,
            signs_from=found.signs_from,
            verifies_until=found.retired_at,
            encrypted=found.encrypted,
        )


@key.command()
@click.option(
    "--at-once",
    is_flag=True,
    help="For a key that has leaked: all other keys retire now, which invalidates every token issued so far.",
)
@click.pass_obj
@errors_in_one_line
def rotate(settings: Settings, at_once: bool) -> None:
    """Create a new signing key and print all keys as 'key list' does.

    The new key is published at once and signs a minute later; the one before verifies until its last token has
    expired. Nothing needs a restart, and all valid tokens stay valid.
    """
    encryption = KeyEncryption(settings.key_encryption_keys)
    with open_connection(settings) as connection:
        signing_keys.rotate_signing_key(connection, encryption, others_at_once=at_once)
        _echo_keys(connection)


@key.command()
@click.pass_obj
@errors_in_one_line
def encrypt(settings: Settings) -> None:
    """Encrypt all keys again with the first KEY_ENCRYPTION_KEY, or store them in plain text if there is none."""
    with open_connection(settings) as connection:
        count = signing_keys.encrypt_signing_keys(connection, KeyEncryption(settings.key_encryption_keys))
    click.echo(f"{count} keys are stored {'encrypted' if settings.key_encryption_keys else 'as they are'}.")


@click.command()
@_SCOPES
@click.option(
    "--lifetime",
    type=click.IntRange(1, 31_536_000),
    default=TOKEN_LIFETIME_S,
    show_default=True,
    metavar="SECONDS",
    help="How long the token is valid.",
)
@click.pass_obj
@errors_in_one_line
def token(settings: Settings, scopes: tuple[str, ...], lifetime: int) -> None:
    """Print one access token, and nothing else.

    It needs the PORT, PUBLIC_URL and TOKEN_ISSUER of the service, which accepts tokens of its own URL only.
    """
    encryption = KeyEncryption(settings.key_encryption_keys)
    with open_connection(settings) as connection:
        signing_keys.ensure_signing_key(connection, encryption)
        text = issued_tokens.issue_token(connection, settings.issuer, _COMMAND_LINE, scopes, lifetime, encryption)
    click.echo(text)


@click.command("revoke-token")
@click.pass_obj
@errors_in_one_line
def revoke_token(settings: Settings) -> None:
    """Revoke the access token on standard input; as an argument it would be visible in the list of processes.

    Within 5 seconds no process accepts it any more.
    """
    # Imported here, because these modules import much of the service, and the other commands need not wait for them.
    from app.identity.own_issuer import OwnIssuer
    from app.identity.verification import InvalidToken, TokenVerifier

    text = sys.stdin.read().strip()
    with open_connection(settings) as connection:
        issuer = OwnIssuer(settings.issuer, lambda: nullcontext(connection))
        try:
            verified = TokenVerifier([issuer]).verify(text)
        except InvalidToken as error:
            raise click.ClickException(f"Nothing to revoke, the token is not valid: {error}.") from None
        issued_tokens.revoke_token(connection, str(verified.token_id), verified.expires_at)
    click.echo(f"revoked  {verified.token_id}")


COMMANDS = (client, key, token, revoke_token)
