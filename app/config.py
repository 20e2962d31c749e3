"""Settings of the service: read from the environment once, checked there and then.

A setting is a field of :class:`Settings` whose metadata names its environment variable, its meaning and its limits.
The table in README is checked against these fields by a test.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any


class InvalidSetting(ValueError):
    """An environment variable holds a value that its setting cannot have."""

    def __init__(self, variable: str, value: str, reason: str) -> None:
        super().__init__(f"{variable}={value!r}: {reason}")
        self.variable = variable


def _integer(minimum: int, maximum: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ValueError("a whole number is expected") from None
        if not minimum <= number <= maximum:
            raise ValueError(f"a whole number from {minimum} to {maximum} is expected")
        return number

    return parse


def _text(text: str) -> str:
    if not text.isprintable():
        raise ValueError("printable text is expected")
    return text


def _domain(text: str) -> str:
    domain = text.strip(".").lower()
    if not all(label and label.replace("-", "").isalnum() and label.isascii() for label in domain.split(".")):
        raise ValueError("a domain name is expected, as in example.com")
    return domain


def _log_format(text: str) -> str:
    if text not in ("auto", "json", "text"):
        raise ValueError("auto, json or text is expected")
    return text


def _setting(variable: str, parse: Callable[[str], Any], default: Any, meaning: str) -> Any:
    return field(default=default, metadata={"variable": variable, "parse": parse, "meaning": meaning})


def _default_workers() -> int:
    """One process a core, at most four: beyond that the database is the bottleneck."""
    return max(1, min(4, os.cpu_count() or 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that can be set from outside."""

    port: int = _setting("PORT", _integer(1, 65535), 8000, "TCP port that gunicorn listens on")
    bind: str = _setting("BIND", _text, "127.0.0.1", "address that gunicorn listens on")
    data_dir: Path = _setting("DATA_DIR", Path, Path(".data"), "folder of the embedded PostgreSQL")
    database_url: str | None = _setting(
        "DATABASE_URL", _text, None, "an outside PostgreSQL, 15 or newer, instead of the embedded one"
    )
    workers: int = _setting(
        "WORKERS", _integer(1, 256), _default_workers(), "gunicorn processes; default: one a core, at most 4"
    )
    threads: int = _setting("THREADS", _integer(1, 256), 8, "threads of each gunicorn process")
    pool_size: int | None = _setting(
        "POOL_SIZE",
        _integer(1, 1024),
        None,
        "database connections of each process; default: one a thread",
    )
    pool_timeout_ms: int = _setting(
        "POOL_TIMEOUT_MS",
        _integer(1, 60_000),
        500,
        "longest wait for a free database connection, then 503",
    )
    connect_timeout_s: int = _setting(
        "CONNECT_TIMEOUT_S", _integer(1, 60), 3, "longest wait for a new connection to the database"
    )
    statement_timeout_ms: int = _setting(
        "STATEMENT_TIMEOUT_MS", _integer(1, 3_600_000), 5_000, "longest SQL statement, then 503"
    )
    lock_timeout_ms: int = _setting(
        "LOCK_TIMEOUT_MS", _integer(1, 3_600_000), 3_000, "longest wait for a row that is locked, then 503"
    )
    max_body_bytes: int = _setting(
        "MAX_BODY_BYTES", _integer(1, 1 << 30), 2 * 1024 * 1024, "largest request body, then 413"
    )
    base_domain: str | None = _setting(
        "BASE_DOMAIN",
        _domain,
        None,
        "serve only the hosts api.{region}.{cloudProvider}.<BASE_DOMAIN>; unset: every host",
    )
    token_issuer: str = _setting(
        "TOKEN_ISSUER", _text, "sample-resource", "the iss claim of the tokens that the service signs"
    )
    log_format: str = _setting("LOG_FORMAT", _log_format, "auto", "json, text, or auto: text on a terminal, else json")

    @property
    def connections(self) -> int:
        """Connections that the pool of one process holds."""
        return self.pool_size or self.threads

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Settings":
        """Read all settings; an empty variable counts as unset.

        :raises InvalidSetting: for the first variable whose value does not fit, naming it.
        """
        source = os.environ if environment is None else environment
        given: dict[str, Any] = {}
        for item in fields(cls):
            variable: str = item.metadata["variable"]
            text = source.get(variable, "")
            if not text:
                continue
            try:
                given[item.name] = item.metadata["parse"](text)
            except ValueError as error:
                raise InvalidSetting(variable, text, str(error)) from None
        return cls(**given)
