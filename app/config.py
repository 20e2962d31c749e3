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
    fixed_token,
    integer,
    is_loopback,
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
    queue_timeout_ms: int = setting(
        "QUEUE_TIMEOUT_MS",
        integer(1, 60_000),
        5_000,
        "longest wait for a free connection while the database answers, then 503",
    )
    statement_timeout_ms: int = setting(
        "STATEMENT_TIMEOUT_MS", integer(1, 3_600_000), 4_000, "longest time for an SQL statement, then 503"
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
    trusted_proxies: int = setting(
        "TRUSTED_PROXIES",
        integer(0, 16),
        0,
        "number of proxies in front that set X-Forwarded-For, -Proto, -Host and -Prefix; 0: these headers are ignored",
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
        "the bearer token of /metrics, which is off if unset",
        secret=True,
    )
    log_format: str = setting(
        "LOG_FORMAT", one_of("auto", "json", "text"), "auto", "json, text, or auto: text on a terminal, else json"
    )
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False, compare=False)
    """The environment from which the settings were read. An extension reads its own settings from it."""

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
    def listens_on_loopback(self) -> bool:
        """Whether gunicorn can be reached at loopback addresses."""
        return self.listen_host in EVERY_ADDRESS or is_loopback(self.listen_host)

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
