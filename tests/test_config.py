"""Settings: how they are read from the environment, and what is derived from them."""

from pathlib import Path

import pytest

from app import create_app
from app.config import InvalidSetting, Settings


def test_an_empty_environment_gives_the_defaults() -> None:
    assert Settings.from_environment({}) == Settings()


def test_an_empty_variable_counts_as_unset() -> None:
    assert Settings.from_environment({"PORT": "", "DATABASE_URL": ""}) == Settings()


def test_values_are_read() -> None:
    settings = Settings.from_environment(
        {"PORT": "9000", "CONNECTIONS": "3", "BASE_DOMAIN": "Example.COM.", "LOG_FORMAT": "json", "DATA_DIR": "/a b"}
    )
    assert (settings.port, settings.connections, settings.base_domain) == (9000, 3, "example.com")
    assert str(settings.data_dir) == "/a b"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PORT", "0"),
        ("PORT", "65536"),
        ("PORT", "8000.0"),
        ("CONNECTIONS", "many"),
        ("QUEUE_TIMEOUT_MS", "-1"),
        ("BASE_DOMAIN", "exa mple.com"),
        ("BASE_DOMAIN", "."),
        ("LOG_FORMAT", "xml"),
        ("BIND", "a\nb"),
        *(("CORS_ORIGINS", each) for each in ("https://a:", "https://a:08080", "https://a b", "https://ä")),
    ],
)
def test_the_error_for_an_invalid_value_names_the_variable(variable: str, value: str) -> None:
    with pytest.raises(InvalidSetting, match=f"^{variable}="):
        Settings.from_environment({variable: value})


def test_a_secret_is_read_from_the_file_that_its_variable_names(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("postgresql://u:p@h/d\n")
    assert Settings.from_environment({"DATABASE_URL_FILE": str(file)}).database_url == "postgresql://u:p@h/d"
    file.write_text("x" * 16 + "\r\n")
    assert Settings.from_environment({"METRICS_TOKEN_FILE": str(file)}).metrics_token == "x" * 16
    assert Settings.from_environment({"METRICS_TOKEN_FILE": ""}).metrics_token is None
    assert Settings.from_environment({"PORT_FILE": str(file)}).port == 8000, "PORT is no secret"


def test_the_error_for_a_secret_in_a_file_names_the_file_and_never_shows_the_secret(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("\n")
    with pytest.raises(InvalidSetting, match=r"^METRICS_TOKEN_FILE=.*: the file is empty$"):
        Settings.from_environment({"METRICS_TOKEN_FILE": str(file)})
    file.write_text("short")
    with pytest.raises(InvalidSetting, match=r"^METRICS_TOKEN: at least 16") as raised:
        Settings.from_environment({"METRICS_TOKEN_FILE": str(file)})
    assert "short" not in str(raised.value)
    with pytest.raises(InvalidSetting, match=f"^METRICS_TOKEN_FILE='{file}': METRICS_TOKEN is set too"):
        Settings.from_environment({"METRICS_TOKEN_FILE": str(file), "METRICS_TOKEN": "x" * 16})
    file.write_bytes(b"\xff")
    with pytest.raises(InvalidSetting, match="the file cannot be read: it is no text in UTF-8"):
        Settings.from_environment({"METRICS_TOKEN_FILE": str(file)})


@pytest.mark.parametrize(
    ("bind", "host", "address", "url"),
    [
        ("127.0.0.1", "127.0.0.1", "127.0.0.1:8123", "http://127.0.0.1:8123"),
        ("0.0.0.0", "0.0.0.0", "0.0.0.0:8123", "http://127.0.0.1:8123"),  # noqa: S104 -- compared, not bound
        ("::", "::", "[::]:8123", "http://127.0.0.1:8123"),
        ("[::]", "::", "[::]:8123", "http://127.0.0.1:8123"),
        ("::1", "::1", "[::1]:8123", "http://[::1]:8123"),
        ("[::1]", "::1", "[::1]:8123", "http://[::1]:8123"),
        ("api.internal", "api.internal", "api.internal:8123", "http://api.internal:8123"),
    ],
)
def test_addresses_are_derived_from_bind_and_port(bind: str, host: str, address: str, url: str) -> None:
    settings = Settings(bind=bind, port=8123)
    assert (settings.listen_host, settings.listen_address, settings.base_url) == (host, address, url)


def test_the_application_needs_a_database() -> None:
    with pytest.raises(InvalidSetting, match=r"^DATABASE_URL: is not set"):
        create_app(Settings())
