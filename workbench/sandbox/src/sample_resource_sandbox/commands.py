"""The command ``report`` for sandbox projects and runs. It requests the report from a service over HTTP."""

import json
import os
import sys
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import click

from app.config import InvalidSetting
from app.setting_values import is_loopback
from sample_resource_sandbox.analysis.report import as_text
from sample_resource_sandbox.settings import SandboxSettings

NOT_GOOD_ENOUGH = 1
NOT_JUDGED = 2
"""The exit code if there is no report, or if an option is wrong."""

_TIMEOUT_S = 60.0
_REDIRECTS = (301, 302, 303, 307, 308)

_FORMATS = ("text", "json", "html")


class _AllowedFindings(click.ParamType[frozenset[str]]):
    """The type of an option whose value is ``none``, or a file with the ids of findings, one on each line."""

    name = "findings"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> frozenset[str]:
        if value == "none":
            return frozenset()
        try:
            lines = Path(value).read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            self.fail(f"'none' or a file is expected: {error}", param, ctx)
        words = (line.partition("#")[0].strip() for line in lines)
        return frozenset(each for each in words if each)


class _Url(click.ParamType[str]):
    """The type of an option whose value is the URL of a service."""

    name = "url"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            self.fail(f"{value!r} is no URL of a service, as http://127.0.0.1:8000", param, ctx)
        return value.rstrip("/")


class _NotJudged(click.ClickException):
    """The error if there is no report. Its exit code differs from that of a report that is not good enough."""

    exit_code = NOT_JUDGED


@click.command()
@click.option(
    "--url", type=_Url(), metavar="URL", required=True, help="The address of the service; its token: SANDBOX_TOKEN."
)
@click.option("--project", "project_key", metavar="KEY", help="The sandbox project's key.")
@click.option("--run", metavar="RUN", help="The run whose projects are reported on together.")
@click.option(
    "--min",
    "minimum",
    type=click.IntRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if less of what --of names was exercised.",
)
@click.option(
    "--of",
    "of",
    metavar="A,B",
    help="Count only these for --min: kinds as 'operations', or names as 'getResourceById' or 'recovered:409'.",
)
@click.option(
    "--findings",
    "allowed",
    type=_AllowedFindings(),
    metavar="none|FILE",
    help="Exit with 1 if there is a finding. Those whose ids are lines of the file are left out.",
)
@click.option(
    "--format", "format_", type=click.Choice(_FORMATS), default="text", show_default=True, help="How to print it."
)
def report(
    url: str,
    project_key: str | None,
    run: str | None,
    minimum: int | None,
    of: str | None,
    allowed: frozenset[str] | None,
    format_: str,
) -> None:
    """Print what the client of a sandbox project has exercised, and how it dealt with faults.

    The service is asked over HTTP, for a project or for a run of tests.

    Exit codes: 0 if the report is good enough, 1 if it is not (--min, --findings, or it is incomplete), 2 if there is
    no report or an option is wrong.
    """
    if (project_key is None) == (run is None):
        raise click.UsageError("Either --project or --run is needed.")
    kind, name = ("projects", project_key) if run is None else ("runs", run)
    asked = {
        "allow": sorted(allowed or ()),
        "min": [] if minimum is None else minimum,
        "of": [] if of is None else of,
        "noFindings": [] if allowed is None else "true",
    }
    address = f"{url}/sandbox/{kind}/{quote(name or '', safe='')}/report?{urlencode(asked, doseq=True)}"
    made = _read(address, _asked(address, "application/json"))
    if format_ == "html":
        click.echo(_asked(address, "text/html").decode())
    else:
        click.echo(as_text(made) if format_ == "text" else json.dumps(made, indent=2))
    if not made["gate"]["passed"]:
        click.echo(made["gate"]["told"], err=True)
        sys.exit(NOT_GOOD_ENOUGH)


class _NoRedirects(HTTPRedirectHandler):
    """Refuses redirects, because urllib would send the token of the sandbox to any host that a redirect names."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _asked(address: str, media_type: str) -> bytes:
    """Request a report from a service, and return the body of the answer."""
    headers = {"Accept": media_type}
    try:
        token = SandboxSettings.of_environment(os.environ).token
    except InvalidSetting as error:
        raise _NotJudged(str(error)) from None
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    # Loopback addresses are requested without the environment's proxy: it would not reach the loopback addresses of
    # this machine, and without a token the sandbox refuses proxies.
    handlers = [ProxyHandler({})] if is_loopback(urlsplit(address).hostname or "") else []
    order = Request(address, headers=headers)  # noqa: S310 -- the type of --url lets http and https pass
    try:
        with build_opener(_NoRedirects, *handlers).open(order, timeout=_TIMEOUT_S) as answer:
            return answer.read()
    except HTTPError as error:
        with error:
            raise _NotJudged(f"{address} was answered {error.code}. {_message_of(error)}") from None
    except (OSError, HTTPException, ValueError) as error:
        raise _NotJudged(f"{address} was not answered: {getattr(error, 'reason', error)}") from None


def _read(address: str, answer: bytes) -> dict[str, Any]:
    try:
        made = json.loads(answer)
    except ValueError:
        made = None
    if not isinstance(made, dict) or "gate" not in made:
        raise _NotJudged(f"{address} answered no report of this version.")
    return made


def _message_of(error: HTTPError) -> str:
    if error.code in _REDIRECTS:
        return f"It redirects to {error.headers.get('Location')!r}, and no redirect is followed."
    try:
        return str(json.loads(error.read())["message"])
    except (ValueError, LookupError, TypeError):
        return "Is it the address of a service with SANDBOX=on?"


COMMANDS = (report,)
