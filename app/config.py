"""The settings of the service. They are read from the environment and checked once, at the start.

A setting is a field of :class:`Settings` whose metadata contain its environment variable, its meaning and its limits. A
secret may also be in a file, which the environment variable with the suffix ``_FILE`` names. A test compares the table
in ``docs/reference.md`` with these fields.
"""

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, cast

from app.setting_values import (
    ANY_ORIGIN,
    EVERY_ADDRESS,
    NO_ORIGIN,
    address_of,
    domain,
    encryption_keys,
    fixed_token,
    hosts,
    http_url,
    integer,
    is_loopback,
    jwks_url,
    one_of,
    origins,
    public_url,
    text,
)


class InvalidSetting(ValueError):
    """The error for an environment variable whose value its setting does not allow.

    :param value: the value for the message; None if it is a secret or if the variable is not set.
    """

    def __init__(self, variable: str, value: str | None, reason: str) -> None:
        super().__init__(f"{variable}: {reason}" if value is None else f"{variable}={value!r}: {reason}")
        self.variable = variable


@dataclass(frozen=True, slots=True)
class OutsideIssuerSettings:
    """The settings of an outside issuer, whose tokens the service accepts besides its own."""

    issuer: str
    """The ``iss`` claim of its tokens."""
    audience: str
    """The value that the ``aud`` claim has to contain: the issuer's name for this service."""
    jwks_url: str
    """The URL of its key set (RFC 7517)."""


def setting(variable: str, parse: Callable[[str], Any], default: Any, meaning: str, *, secret: bool = False) -> Any:
    """Declare a setting.

    :param secret: whether to hide the value in messages and in ``repr``.
    """
    return field(
        default=default,
        repr=not secret,
        metadata={"variable": variable, "parse": parse, "meaning": meaning, "secret": secret},
    )


def file_variable(variable: str) -> str:
    """The name of the environment variable for a file with the value of a secret setting."""
    return f"{variable}_FILE"


def _secret(source: Mapping[str, str], variable: str) -> str:
    """Read the value of a secret setting from its variable, or from the file that ``<variable>_FILE`` names.

    Ends of line at the end of the file are removed.

    :raises InvalidSetting: if both variables are set, or if the file cannot be read.
    """
    text, path = source.get(variable, ""), source.get(file_variable(variable), "")
    if not path:
        return text
    if text:
        raise InvalidSetting(file_variable(variable), path, f"{variable} is set too; set one of the two")
    try:
        return Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise InvalidSetting(file_variable(variable), path, f"the file cannot be read: {reason}") from None


def _default_workers() -> int:
    """The default number of gunicorn processes: one for each core, but at most four, because with more the database is
    the bottleneck."""
    return max(1, min(4, os.cpu_count() or 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of the service. A default of None means that the setting is not set."""

    port: int = setting("PORT", integer(1, 65535), 8000, "TCP port that gunicorn listens on")
    bind: str = setting("BIND", text, "127.0.0.1", "address that gunicorn listens on")
    data_dir: Path = setting("DATA_DIR", Path, Path(".data"), "folder of the embedded PostgreSQL")
    database_url: str | None = setting(
        "DATABASE_URL", text, None, "an outside PostgreSQL, 15 or newer, instead of the embedded one", secret=True
    )
    database_read_url: str | None = setting(
        "DATABASE_READ_URL",
        text,
        None,
        "a replica of the database that lists, existence checks and searches read",
        secret=True,
    )
    database_pooler: str | None = setting(
        "DATABASE_POOLER",
        one_of("transaction"),
        None,
        "transaction: DATABASE_URL is a pooler in transaction mode, such as PgBouncer; the time limits of statements"
        " are then set on the database account",
    )
    prepared_statements: str = setting(
        "PREPARED_STATEMENTS",
        one_of("auto", "yes", "no"),
        "auto",
        "yes, no, or auto: no behind a pooler, else yes; PgBouncer supports prepared statements since 1.21",
    )
    workers: int = setting(
        "WORKERS",
        integer(1, 256),
        _default_workers(),
        "number of gunicorn processes; default: one for each core, at most 4",
    )
    connections: int = setting(
        "CONNECTIONS",
        integer(1, 1024),
        8,
        "database connections of each process, which as many requests use at once; each process has one more for"
        " itself",
    )
    pool_timeout_ms: int = setting(
        "POOL_TIMEOUT_MS",
        integer(1, 60_000),
        500,
        "longest wait for a connection while the database is away, then 503",
    )
    queue_timeout_ms: int = setting(
        "QUEUE_TIMEOUT_MS",
        integer(1, 60_000),
        5_000,
        "longest wait for a free connection while the database answers, then 503",
    )
    connect_timeout_s: int = setting(
        "CONNECT_TIMEOUT_S", integer(1, 60), 3, "longest wait for a new connection to the database"
    )
    statement_timeout_ms: int = setting(
        "STATEMENT_TIMEOUT_MS", integer(1, 3_600_000), 4_000, "longest time for an SQL statement, then 503"
    )
    lock_timeout_ms: int = setting(
        "LOCK_TIMEOUT_MS", integer(1, 3_600_000), 3_000, "longest wait for a row that is locked, then 503"
    )
    max_body_bytes: int = setting(
        "MAX_BODY_BYTES", integer(1, 1 << 30), 2 * 1024 * 1024, "largest request body, then 413"
    )
    base_domain: str | None = setting(
        "BASE_DOMAIN",
        domain,
        None,
        "serve only the hosts api.{region}.{cloudProvider}.<BASE_DOMAIN>, and those of the service's own addresses;"
        " unset: every host",
    )
    public_url: str | None = setting(
        "PUBLIC_URL",
        public_url,
        None,
        "the URL at which clients reach the service, which may be that of a proxy: https, or http in a private network;"
        " default: the address that gunicorn listens on",
    )
    token_issuer: str | None = setting(
        "TOKEN_ISSUER", text, None, "the issuer of the service's tokens; default: PUBLIC_URL"
    )
    key_encryption_keys: tuple[bytes, ...] = setting(
        "KEY_ENCRYPTION_KEY",
        encryption_keys,
        (),
        "32 random bytes in base64 that encrypt the signing keys in the database; several, separated by commas: the"
        " first encrypts, all decrypt; unset: the keys are stored in plain text",
        secret=True,
    )
    auth_issuer: str | None = setting(
        "AUTH_ISSUER", text, None, "the iss claim of an outside issuer whose tokens are accepted too"
    )
    auth_audience: str | None = setting(
        "AUTH_AUDIENCE", text, None, "the audience that the aud claim of an outside issuer's tokens has to contain"
    )
    auth_jwks_url: str | None = setting(
        "AUTH_JWKS_URL",
        jwks_url,
        None,
        "the URL where the outside issuer publishes its keys: https, or http on loopback",
    )
    trusted_proxies: int = setting(
        "TRUSTED_PROXIES",
        integer(0, 16),
        0,
        "number of proxies in front that set X-Forwarded-For, -Proto, -Host and -Prefix; 0: these headers are ignored",
    )
    hosts: tuple[str, ...] = setting(
        "TRUSTED_HOSTS",
        hosts,
        (),
        "serve only these hosts, separated by commas, .example.com meaning its subdomains too; unset: every host",
    )
    allowed_origins: tuple[str, ...] = setting(
        "CORS_ORIGINS",
        origins,
        (ANY_ORIGIN,),
        f"origins whose pages may use the resource API and get tokens, separated by commas; {NO_ORIGIN}: no page may",
    )
    metrics_token: str | None = setting(
        "METRICS_TOKEN",
        fixed_token,
        None,
        "serve /metrics to this bearer token; unset: there is no /metrics",
        secret=True,
    )
    log_format: str = setting(
        "LOG_FORMAT", one_of("auto", "json", "text"), "auto", "json, text, or auto: text on a terminal, else json"
    )
    otlp_endpoint: str | None = setting(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        http_url,
        None,
        "the URL that takes spans by OTLP over HTTP, such as http://collector:4318; needs the extra otel",
    )
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False, compare=False)
    """The environment from which the settings were read. An extension reads its own settings from it."""

    def __post_init__(self) -> None:
        outside = {
            "AUTH_ISSUER": self.auth_issuer,
            "AUTH_AUDIENCE": self.auth_audience,
            "AUTH_JWKS_URL": self.auth_jwks_url,
        }
        for variable, value in outside.items():
            if value is None and any(outside.values()):
                raise InvalidSetting(variable, None, f"is missing: {', '.join(outside)} go together, all three or none")
        if self.auth_issuer == self.issuer:
            raise InvalidSetting("AUTH_ISSUER", self.auth_issuer, "is TOKEN_ISSUER, the service itself")

    @property
    def listen_host(self) -> str:
        """The host of ``BIND`` in the form for sockets: an IPv6 address has no brackets."""
        return self.bind.strip("[]")

    @property
    def listen_address(self) -> str:
        """The address on which gunicorn listens, as ``host:port``. An IPv6 address is in brackets."""
        return address_of(self.listen_host, self.port)

    @property
    def longest_request_s(self) -> int:
        """The longest time until a request is answered: the time limits for getting a connection and for two
        statements, plus one second.

        A search looks up words before it searches, and a write reads before it writes. A write that others overtake
        several times may take longer.
        """
        return math.ceil((self.queue_timeout_ms + 2 * self.statement_timeout_ms) / 1000) + 1

    @property
    def own_host(self) -> str:
        """The host at which this machine reaches gunicorn."""
        return "127.0.0.1" if self.listen_host in EVERY_ADDRESS else self.listen_host

    @property
    def base_url(self) -> str:
        """The URL of the service, without a slash at its end: ``PUBLIC_URL``, else the address on which gunicorn
        listens."""
        return self.public_url or f"http://{address_of(self.own_host, self.port)}"

    @property
    def authorization_url(self) -> str:
        """The base URL of the endpoints in the metadata of the authorization server.

        It is ``PUBLIC_URL``, else ``TOKEN_ISSUER`` if that is a URL, else the address on which gunicorn listens.
        """
        if self.public_url is None and self.issuer.startswith(("https://", "http://")):
            return self.issuer.rstrip("/")
        return self.base_url

    @property
    def listens_on_loopback(self) -> bool:
        """Whether gunicorn can be reached at loopback addresses."""
        return self.listen_host in EVERY_ADDRESS or is_loopback(self.listen_host)

    @property
    def issuer(self) -> str:
        """The issuer of the service's tokens: ``TOKEN_ISSUER``, else the URL of the service (RFC 8414, section 2)."""
        return self.token_issuer or self.base_url

    @property
    def outside_issuer(self) -> OutsideIssuerSettings | None:
        """The settings ``AUTH_...``; None if they are not set."""
        if self.auth_issuer is None or self.auth_audience is None or self.auth_jwks_url is None:
            return None
        return OutsideIssuerSettings(self.auth_issuer, self.auth_audience, self.auth_jwks_url)

    @property
    def prepare_threshold(self) -> int | None:
        """The number of executions after which a connection prepares a statement; None for never."""
        prepared = self.prepared_statements == "yes" or (
            self.prepared_statements == "auto" and self.database_pooler is None
        )
        return 2 if prepared else None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Settings":
        """Read all settings from environment variables. An empty variable counts as not set.

        :param environment: the variables; by default ``os.environ``.
        :raises InvalidSetting: for the first variable with an invalid value, or with a file that cannot be read.
        """
        source = dict(os.environ if environment is None else environment)
        return read_settings(cls, source, environment=source)


AnySettings = TypeVar("AnySettings")


def read_settings(cls: type[AnySettings], source: Mapping[str, str], **others: Any) -> AnySettings:
    """Read the settings that a class declares, and make an instance. An empty variable counts as not set.

    :param others: values of fields that are no settings.
    :raises InvalidSetting: for the first variable with an invalid value, or with a file that cannot be read.
    """
    for item in fields(cast("Any", cls)):
        variable: str | None = item.metadata.get("variable")
        if variable is None:
            continue
        text = source.get(variable, "")
        if item.metadata["secret"]:
            text = _secret(source, variable)
        if not text:
            continue
        try:
            others[item.name] = item.metadata["parse"](text)
        except ValueError as error:
            raise InvalidSetting(variable, None if item.metadata["secret"] else text, str(error)) from None
    return cls(**others)
