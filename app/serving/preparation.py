"""The preparation of ``serve`` before gunicorn starts its workers: the demo client, and its token."""

from contextlib import suppress

import psycopg

from app.config import Settings
from app.database.connection import connect
from app.extension import package_of
from app.identity import clients, tokens
from app.identity.scopes import SCOPE_NAMES

DEMO_PROJECT = "demo"
"""The project to which the demo client, and the token that ``serve`` prints, have access."""

DEMO_CLIENT = "demo"
"""The name of the demo client, for which ``serve`` prints a token."""

DEMO_SCOPES = tuple(f"{name}:{DEMO_PROJECT}" for name in SCOPE_NAMES)


def prepare(url: str, settings: Settings) -> str:
    """Prepare a migrated database for the service, and return the text that ``serve`` prints.

    If the database has no clients, a demo client is created, and the text contains its secret. The client
    ``command-line`` does not count, but revoked clients do. If the database has clients, none is created: the oldest
    unrevoked one with the name :data:`DEMO_CLIENT` and the scopes :data:`DEMO_SCOPES` is the demo client.

    The text contains a new token of the demo client. If no client is the demo client, or the token cannot be stored,
    the text names the command to get a token instead. The preparation can be repeated, but two preparations at the same
    time may each create a demo client.

    :raises psycopg.Error: if the database cannot be reached, or the demo client cannot be stored.
    """
    with connect(url, settings) as connection:
        demo_client: list[str] = []
        if clients.has_clients(connection):
            client_id = clients.find_client(connection, DEMO_CLIENT, DEMO_SCOPES)
        else:
            client = clients.create_client(connection, DEMO_CLIENT, DEMO_SCOPES)
            client_id = client.client_id
            demo_client = [f"Demo client    {client_id}", f"Its secret     {client.client_secret}  (shown this once)"]
        how_to_try = f"Get a token by 'sample-resource token --scope view_test:{DEMO_PROJECT}'."
        if client_id is not None:
            with suppress(psycopg.Error):  # the database may be read-only, or a node of Citus may be down
                token = tokens.issue_token(connection, client_id, DEMO_SCOPES)
                how_to_try = f"curl -H 'Authorization: Bearer {token}' {settings.base_url}/{DEMO_PROJECT}/resource"
    addresses, warnings = package_of(settings).banner(settings)
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
        )
    )
