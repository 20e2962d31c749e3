"""The commands for API clients and access tokens."""

import click

from app.cli import pass_settings
from app.cli.common import ScopesParameter, echo_json_line, open_connection
from app.config import Settings
from app.identity import clients, tokens
from app.identity.tokens import TOKEN_LIFETIME_S

_SCOPES = click.option(
    "--scope", "scopes", type=ScopesParameter(), required=True, help='For example "manage_test:p view_test:p".'
)


@click.group()
def client() -> None:
    """API clients."""


@client.command()
@click.option("--name", required=True, help="The client's name.")
@_SCOPES
@pass_settings
def create(settings: Settings, name: str, scopes: tuple[str, ...]) -> None:
    """Create a client and print it as JSON, with its secret, which is never shown again."""
    with open_connection(settings) as connection:
        made = clients.create_client(connection, name, scopes)
        # Printed inside the block: closing takes time, and an interrupt then would lose the secret.
        echo_json_line(
            client_id=made.client_id, client_secret=made.client_secret, name=made.name, scope=" ".join(made.scopes)
        )


@client.command("list")
@pass_settings
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
@pass_settings
def revoke_client(settings: Settings, client_id: str) -> None:
    """Revoke a client for good, and with it all its tokens: 5 seconds later, no process accepts any of them in a new
    request."""
    with open_connection(settings) as connection:
        revoked = clients.revoke_client(connection, client_id)
    echo_json_line(client_id=revoked.client_id, name=revoked.name, revoked_at=revoked.revoked_at)


@click.command()
@_SCOPES
@click.option(
    "--lifetime",
    type=click.IntRange(1, 31_536_000),
    default=TOKEN_LIFETIME_S,
    show_default=True,
    metavar="SECONDS",
    help="How long the token is valid; it may be up to a second less.",
)
@pass_settings
def token(settings: Settings, scopes: tuple[str, ...], lifetime: int) -> None:
    """Print one access token, and nothing else.

    The tokens of this command belong to a client with the id 'command-line', which the command creates if there is
    none. To revoke this client is to revoke all these tokens; after that the command refuses to make another.
    """
    with open_connection(settings) as connection:
        if clients.ensure_client(connection, clients.COMMAND_LINE).revoked_at is not None:
            raise click.ClickException(
                f"The client {clients.COMMAND_LINE!r} is revoked. Make one by 'client create', and get its tokens from"
                " /oauth/token."
            )
        text = tokens.issue_token(connection, clients.COMMAND_LINE, scopes, lifetime)
    click.echo(text)


COMMANDS = (client, token)
