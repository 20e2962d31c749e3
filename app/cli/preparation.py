"""What ``serve`` does before it starts gunicorn: migrations, a signing key, and the demo client."""

import click

from app.cli.common import database_url, errors_in_one_line
from app.config import Settings
from app.database import migrate
from app.database.connection import connect
from app.extension import package_of
from app.identity import clients, issued_tokens, signing_keys
from app.identity.signing_keys import KeyEncryption
from app.identity.token_profile import SCOPE_NAMES, TOKEN_LIFETIME_S

DEMO_PROJECT = "demo"
"""The project that the demo client, and the token in the command that ``serve`` prints, give access to."""

DEMO_CLIENT = "demo"
"""The name of the demo client, which the token that ``serve`` prints belongs to."""

DEMO_SCOPES = tuple(f"{name}:{DEMO_PROJECT}" for name in SCOPE_NAMES)


@click.command("prepare", hidden=True)
@click.pass_obj
@errors_in_one_line
def print_prepared(settings: Settings) -> None:
    """Prepare the database as 'serve' does before it starts gunicorn, and print how to try the service."""
    with database_url(settings) as url:
        click.echo(prepare(url, settings))


COMMANDS = (print_prepared,)


def prepare(url: str, settings: Settings) -> str:
    """Prepare a database for the service, and return the text that ``serve`` prints.

    Applies the missing migrations, and creates a signing key if there is none. A demo client is created if the
    database has no client yet; only then is its secret part of the text. A token of the demo client is part of the
    text as long as that client is not revoked. Repeating it does no harm.

    :raises UnsupportedServer: if the server is too old.
    :raises KeyUnreadable: if the signing key is encrypted and the encryption key in the settings does not fit.
    """
    package = package_of(settings)
    migrate.upgrade(url, package.migrations)
    with connect(url, settings) as connection:
        encryption = KeyEncryption(settings.key_encryption_keys)
        signing_keys.ensure_signing_key(connection, encryption)
        demo_client: list[str] = []
        if clients.has_clients(connection):
            client_id = clients.find_client(connection, DEMO_CLIENT, DEMO_SCOPES)
        else:
            client = clients.create_client(connection, DEMO_CLIENT, DEMO_SCOPES)
            client_id = client.client_id
            demo_client = [
                f"Demo client    {client_id}",
                f"Its secret     {client.client_secret}  (shown this once)",
            ]
        how_to_try = f"Get a token by 'sample-resource token --scope view_test:{DEMO_PROJECT}'."
        if client_id is not None:
            token = issued_tokens.issue_token(
                connection, settings.issuer, client_id, DEMO_SCOPES, TOKEN_LIFETIME_S, encryption
            )
            how_to_try = f"curl -H 'Authorization: Bearer {token}' {settings.base_url}/{DEMO_PROJECT}/resource"
    addresses, warnings = package.banner(settings)
    return "\n".join(
        (
            f"Serving        {settings.base_url}",
            f"Documentation  {settings.base_url}/docs",
            *addresses,
            *demo_client,
            *warnings,
            "",
            "Try it:",
            "",
            how_to_try,
            "",
        )
    )
