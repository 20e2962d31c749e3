"""Where tokens and projects come from: one token, a client's credentials, or the sandbox of the server."""

import base64
import json
import re
import shlex
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import quote_plus

from sample_resource_testkit.outcomes import Skipped
from sample_resource_testkit.wire import Headers, NoAnswer, Origin, RawAnswer, Request, Transport

SCOPES = ("manage_test", "view_test", "view_products", "view_published_products")
"""The scopes that the interface names."""

_LONG = 12
"""The fewest characters of a secret that is hidden wherever it occurs. A shorter secret may be a part of any word."""

_RENEWED_BEFORE_S = 60
"""A new token is requested when the kept one is valid for fewer seconds than this."""


class Unusable(Exception):
    """The server cannot be checked at all with the given options; the message says why."""


@dataclass(slots=True)
class Vault:
    """Secrets, and the names of the shell variables that stand for them in reports."""

    _names: dict[str, str] = field(default_factory=dict[str, str])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, name: str, secret: str) -> None:
        """Replace a secret by ``$name`` in every text that is hidden from now on."""
        if secret:
            with self._lock:
                self._names[secret] = name

    def hide(self, text: str) -> str:
        """Replace all known secrets in a text by their variables."""
        with self._lock:
            names = sorted(self._names.items(), key=lambda item: len(item[0]), reverse=True)
        for secret, name in names:
            if len(secret) >= _LONG:
                text = text.replace(secret, f"${name}")
            else:
                text = re.sub(rf"(?i)(authorization: \w+ ){re.escape(secret)}(?!\S)", rf"\1${name}", text)
        return text

    @property
    def variables(self) -> dict[str, str]:
        """The secrets by the names of their variables. A renewed token replaces the one before."""
        with self._lock:
            return {name: secret for secret, name in self._names.items()}


@dataclass(frozen=True, slots=True)
class ProjectClient:
    """A project, and an API client that may request tokens for it.

    :param token: a token that exists already, with all scopes of the client.
    :param client_id: empty if only the token is known.
    :param label: a part of the names of variables, different for each project.
    """

    key: str
    token: str = ""
    client_id: str = ""
    client_secret: str = ""
    label: str = ""

    @property
    def basic(self) -> str:
        """The client's credentials for HTTP Basic, in base64 (RFC 6749, section 2.3.1)."""
        pair = f"{quote_plus(self.client_id)}:{quote_plus(self.client_secret)}"
        return base64.b64encode(pair.encode()).decode()


class Access(Protocol):
    """How a run gets its projects and tokens."""

    project: ProjectClient
    second: ProjectClient | None

    def token(self, of: ProjectClient, scopes: tuple[str, ...] = ()) -> str:
        """A token for a project.

        :param scopes: names without a project; if empty, all scopes of the client.
        :raises Skipped: if there is no such token.
        """
        ...

    def new_project(self) -> ProjectClient:
        """A project that nothing has used.

        :raises Skipped: if no such project can be made.
        """
        ...

    def two_clients(self) -> tuple[ProjectClient, ProjectClient]:
        """A project that nothing has used, with two API clients.

        :raises Skipped: if there are no two clients of one project.
        """
        ...

    def shell(self, names: Collection[str]) -> list[str]:
        """Lines for a shell that set variables. The variables stand for secrets in reports."""
        ...

    def close(self) -> None:
        """Remove what the run has made for itself."""
        ...


class FixedToken:
    """Access by one token, which the user has given."""

    def __init__(self, vault: Vault, token: str, project: str, second: str | None) -> None:
        vault.keep("TOKEN", token)
        self.project = ProjectClient(project, token)
        self.second = None if second is None else ProjectClient(second, token)

    def token(self, of: ProjectClient, scopes: tuple[str, ...] = ()) -> str:
        """The user's token. A call that asks for certain scopes is skipped."""
        if scopes:
            raise Skipped("needs tokens of other scopes: --client-id and --client-secret, or --sandbox")
        return of.token

    def new_project(self) -> ProjectClient:
        """Skip the case: no project can be made."""
        raise Skipped("needs a project of its own: --sandbox")

    def two_clients(self) -> tuple[ProjectClient, ProjectClient]:
        """Skip the case: there is one client."""
        raise Skipped("needs two API clients of one project")

    def shell(self, names: Collection[str]) -> list[str]:
        """A line that asks the user to set the variable. The token is the user's, so it is not shown."""
        return ["TOKEN=...  # the value of --token"] if "TOKEN" in names else []

    def close(self) -> None:
        """Do nothing, because nothing was made."""


class Credentials:
    """Access by tokens of the client credentials grant (RFC 6749, section 4.4).

    :param transport: connections to the token endpoint.
    :param target: the request target of the token endpoint.
    """

    def __init__(self, transport: Transport, target: str, vault: Vault) -> None:
        self.transport = transport
        self.target = target
        self._vault = vault
        self._lock = threading.Lock()
        self._tokens: dict[tuple[str, str, tuple[str, ...]], tuple[str, float]] = {}
        self._sources: dict[str, tuple[ProjectClient, tuple[str, ...]]] = {}
        self._given = 0
        self.project = ProjectClient("")
        self.second: ProjectClient | None = None

    def use(self, project: ProjectClient, second: ProjectClient | None) -> None:
        """Set the two projects of the run."""
        self.project, self.second = project, second
        self._vault.keep("CLIENT_SECRET", project.client_secret)
        self._vault.keep("CLIENT_BASIC", project.basic)

    def token(self, of: ProjectClient, scopes: tuple[str, ...] = ()) -> str:
        """The kept token of a client, or a new one."""
        if not scopes and of.token:
            return of.token
        key = (of.key, of.client_id, scopes)
        with self._lock:
            known, good_until = self._tokens.get(key, ("", 0.0))
            if known and time.monotonic() < good_until:
                return known
            token, lifetime_s = self._fetch(of, scopes)
            self._tokens[key] = token, time.monotonic() + lifetime_s - min(_RENEWED_BEFORE_S, lifetime_s / 2)
        name = "_".join(filter(None, (of.label, *scopes, "token"))).upper()
        self._sources[name] = of, scopes
        self._vault.keep(name, token)
        return token

    def keep(self, token: str) -> None:
        """Hide a token that a check has requested itself."""
        with self._lock:
            if token not in self._vault.variables.values():
                self._given += 1
                self._vault.keep(f"GIVEN_TOKEN_{self._given}", token)

    def _grant(self, of: ProjectClient, scope: str) -> RawAnswer:
        """Request a token. An empty scope is left out of the form.

        :raises NoAnswer: if the token endpoint does not answer.
        """
        form = "grant_type=client_credentials" + (f"&scope={quote_plus(scope)}" if scope else "")
        headers = (("Authorization", f"Basic {of.basic}"), ("Content-Type", "application/x-www-form-urlencoded"))
        return self.transport.exchange(self.transport.complete(Request("POST", self.target, headers, form.encode())))

    def _fetch(self, of: ProjectClient, scopes: tuple[str, ...]) -> tuple[str, float]:
        wanted = " ".join(f"{name}:{of.key}" for name in scopes or SCOPES)
        try:
            answer = self._grant(of, wanted)
            if answer.status == 400 and not scopes:
                # The client may have fewer scopes. Without the parameter the token gets all scopes of the client.
                answer = self._grant(of, "")
            given: Any = json.loads(answer.body) if answer.status == 200 else None
        except (NoAnswer, ValueError) as error:
            raise Skipped(f"needs a token, and the token endpoint gave none: {error}") from None
        if not isinstance(given, dict) or not isinstance(given.get("access_token"), str):
            raise Skipped(f"needs a token for '{wanted}', and the token endpoint answered {_summary(answer)}")
        granted = given.get("scope")
        if scopes and isinstance(granted, str) and set(granted.split()) != set(wanted.split()):
            raise Skipped(f"needs a token for '{wanted}', and the token endpoint gave one for '{granted}'")
        lifetime = given.get("expires_in")
        return given["access_token"], float(lifetime) if isinstance(lifetime, int | float) else 3600.0

    def new_project(self) -> ProjectClient:
        """Skip the case: no project can be made."""
        raise Skipped("needs a project of its own: --sandbox")

    def two_clients(self) -> tuple[ProjectClient, ProjectClient]:
        """Skip the case: there is one client."""
        raise Skipped("needs two API clients of one project")

    def shell(self, names: Collection[str]) -> list[str]:
        """Lines that request tokens with the client's secret, which the user has to set."""
        lines: list[str] = []
        for name in sorted(names & self._sources.keys()):
            of, scopes = self._sources[name]
            scope = " ".join(f"{scope}:{of.key}" for scope in scopes or SCOPES)
            ask = f"curl --silent --user '{of.client_id}:'\"$CLIENT_SECRET\" --data grant_type=client_credentials"
            url = shlex.quote(self.transport.origin.base + self.target)
            ask += f" --data-urlencode {shlex.quote(f'scope={scope}')} {url}"
            lines.append(f"""{name}=$({ask} | sed 's/.*"access_token": *"\\([^"]*\\)".*/\\1/')""")
        lines += [f"{name}=...  # a new token" for name in sorted(names) if name.startswith("GIVEN_TOKEN_")]
        if "CLIENT_BASIC" in names:
            lines.append(f"""CLIENT_BASIC=$(printf %s '{self.project.client_id}:'"$CLIENT_SECRET" | base64 -w0)""")
        if lines or "CLIENT_SECRET" in names:
            lines.insert(0, "CLIENT_SECRET=...  # the value of --client-secret")
        return lines

    def close(self) -> None:
        """Do nothing, because nothing was made."""


class SandboxAccess(Credentials):
    """Access to projects that the server's sandbox makes, each with its own client.

    :param service: connections to the server, whose sandbox is asked.
    :param sandbox_token: the bearer token of the sandbox's routes; empty if they need none.
    """

    def __init__(
        self, transport: Transport, target: str, vault: Vault, service: Transport, sandbox_token: str = ""
    ) -> None:
        super().__init__(transport, target, vault)
        self._service = service
        self._headers: Headers = ()
        if sandbox_token:
            vault.keep("SANDBOX_TOKEN", sandbox_token)
            self._headers = (("Authorization", f"Bearer {sandbox_token}"),)
        self._made: list[str] = []

    def begin(self) -> None:
        """Make the projects of the run.

        :raises Unusable: if the sandbox refuses.
        """
        try:
            self.use(self._make("first"), self._make("second"))
        except (NoAnswer, Skipped) as error:
            raise Unusable(str(error)) from None

    def new_project(self) -> ProjectClient:
        """A new project for one case. The sandbox removes it when its lifetime has passed."""
        try:
            return self._make("own")
        except NoAnswer as error:
            raise Skipped(f"needs a project of its own, and the sandbox made none: {error}") from None

    def _make(self, label: str) -> ProjectClient:
        headers = (*self._headers, ("Content-Type", "application/json"))
        request = Request("POST", "/sandbox/projects", headers, b"{}")
        answer = self._service.exchange(self._service.complete(request))
        try:
            made: Any = json.loads(answer.body)
            keys = ("projectKey", "accessToken", "clientId", "clientSecret")
            key, token, client_id, secret = (str(made[name]) for name in keys)
        except (ValueError, KeyError, TypeError):
            raise Skipped(
                f"--sandbox needs this service with SANDBOX=on; for another server give --token or --client-id, and"
                f" --project. POST /sandbox/projects answered {_summary(answer)}"
            ) from None
        with self._lock:
            self._made.append(key)
            number = len(self._made)
        prefix = {"first": "", "second": "SECOND"}.get(label, f"P{number}")
        client = ProjectClient(key, token, client_id, secret, prefix)
        for name, hidden in (("TOKEN", token), ("CLIENT_SECRET", secret), ("CLIENT_BASIC", client.basic)):
            self._vault.keep(f"{prefix}_{name}".strip("_"), hidden)
        return client

    def shell(self, names: Collection[str]) -> list[str]:
        """Lines that contain the secrets of throwaway projects, which are valid for an hour."""
        known = self._vault.variables
        return [
            f"{name}=...  # that of the sandbox" if name == "SANDBOX_TOKEN" else f"{name}={shlex.quote(known[name])}"
            for name in sorted(names & known.keys())
        ]

    def close(self) -> None:
        """Remove all projects that were made. A server that does not answer is no error."""
        for key in self._made:
            try:
                request = Request("DELETE", f"/sandbox/projects/{key}", self._headers)
                self._service.exchange(self._service.complete(request))
            except NoAnswer:
                return


def token_transport(token_url: str, service: Transport) -> tuple[Transport, str]:
    """Connections to the token endpoint, and its request target.

    :raises ValueError: if the text is no URL.
    """
    base, mark, query = token_url.partition("?")
    origin = Origin.of(base)
    transport = Transport(Origin(origin.scheme, origin.host, origin.port), service.timeout_s, service.headers)
    return transport, f"{origin.prefix or '/'}{mark}{query}"


def _summary(answer: RawAnswer) -> str:
    return f"{answer.status}: {answer.body[:300].decode(errors='replace')}"
