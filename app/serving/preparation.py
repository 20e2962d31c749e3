"""The preparation of ``serve`` before gunicorn starts its workers: a signing key, and the demo client."""

from app.config import Settings
from app.database.connection import connect
from app.extension import package_of
from app.identity import clients, issued_tokens, signing_keys
from app.identity.signing_keys import KeyEncryption
from app.identity.token_profile import SCOPE_NAMES, TOKEN_LIFETIME_S

DEMO_PROJECT = "demo"
"""The project to which the demo client, and the token that ``serve`` prints, have access."""

DEMO_CLIENT = "demo"
"""The name of the demo client, for which ``serve`` prints a token."""

DEMO_SCOPES = tuple(f"{name}:{DEMO_PROJECT}" for name in SCOPE_NAMES)


def prepare(url: str, settings: Settings) -> str:
    """Prepare a migrated database for the service, and return the text that ``serve`` prints.

    It creates a signing key if there is none. If the database has no client yet, it creates the demo client, and the
    text contains the client's secret. The text contains a token of the demo client as long as this client is not
    revoked. The preparation can be repeated.

    :raises KeyUnreadable: if the signing key is encrypted and no encryption key in the settings decrypts it.
    """
    package = package_of(settings)
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
        )
    )
