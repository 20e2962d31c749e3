"""Makes, resets and removes projects, and changes their clocks, ids and rules.

A change of a clock or of ids is committed first, and then made in memory. Every request that begins after the answer to
a change finds it made.
"""

import json
import secrets
import string
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from threading import Semaphore
from typing import Any

from app import errors
from app.bulk import seed
from app.config import Settings
from app.database.connection import Connection, has_citus
from app.database.pool import Database
from app.identity import clients, tokens
from app.identity.scopes import SCOPE_NAMES
from app.identity.tokens import TOKEN_LIFETIME_S
from app.resource import bulk_store
from app.resource.model import ResourceRow
from app.resource.searching import dictionary
from app.values.timestamps import text_of
from sample_resource_sandbox.analysis.observer import Observer
from sample_resource_sandbox.analysis.runs import Runs
from sample_resource_sandbox.journal.journal import Shelf
from sample_resource_sandbox.journal.redaction import Secrets
from sample_resource_sandbox.projects import copies, store
from sample_resource_sandbox.projects.clock import ProjectClock
from sample_resource_sandbox.projects.clock_and_ids import ProjectClockAndIds
from sample_resource_sandbox.projects.lock import ProjectLock
from sample_resource_sandbox.projects.model import SandboxProject
from sample_resource_sandbox.projects.registry import Registry
from sample_resource_sandbox.rules.rules import CountedRule, Rule

CLIENT_NAME = "sandbox"

_MADE_UP_AS = "sandbox"
"""The name of the project for which resources are generated. One name makes them equal in all projects."""

_MADE_UP_SEED = 1
_AT_ONCE = 50
"""The number of resources that are generated before other requests of the process may run."""
_PAUSE_S = 0.001
"""The pause in which they may run. It is a timer, because ``sleep(0)`` does not let the event loop look at sockets."""

_FILLED_AT_ONCE = 2
"""The most projects that are filled or reset at the same time. Others wait, so that requests of clients go on."""
_TURN_WITHIN_S = 60.0

PROJECTS_AT_MOST = 1000
COPIED_AT_MOST = 20_000
COPIED_BYTES_AT_MOST = 64 * 1024 * 1024
"""The most resources of a copied project, and the most bytes of their documents."""


@dataclass(frozen=True, slots=True)
class NewProject:
    """A checked order for a project."""

    project_key: str | None = None
    scopes: tuple[str, ...] = SCOPE_NAMES
    ttl_s: int = 3600
    resources: int = 0
    """The number of generated resources that the project begins with."""
    run: str | None = None
    """The run of tests to which it will belong."""
    allow: Sequence[str] = ()
    """The ids of findings that are expected, and not reported."""
    copy_of: str | None = None
    clock: dict[str, Any] = field(default_factory=dict[str, Any])
    ids: dict[str, Any] = field(default_factory=dict[str, Any])


class Projects:
    """The sandbox projects of a database.

    :param shelf: keeps the journals of the projects.
    :param secrets: the secrets of the service, which no journal shows.
    """

    def __init__(
        self, database: Database, settings: Settings, runs: Runs, shelf: Shelf, secrets: Sequence[str] = ()
    ) -> None:
        self._database = database
        self._settings = settings
        self._runs = runs
        self._shelf = shelf
        self._secrets = secrets
        self._turns = Semaphore(_FILLED_AT_ONCE)
        self.registry = Registry(database.own_connection, self._load)

    def _load(self, connection: Connection) -> Generator[SandboxProject]:
        for run in store.all_runs(connection):
            self._runs.begin(run, is_cut=True)
        # The oldest project first, because the shelf drops entries of its first journals first.
        for row in sorted(store.all_rows(connection), key=lambda each: each.created_at):
            yield self._live(row, is_cut=True)

    def _live(self, row: store.Row, *, is_cut: bool = False) -> SandboxProject:
        """Make the state of a stored project in this process.

        :param is_cut: whether an earlier process has made the project, so that its requests are not known.
        """
        journal = self._shelf.begin(Secrets(*self._secrets))
        observer = Observer(row.project_key, row.client_id, journal, json.loads(row.allow), is_cut=is_cut)
        if row.run is not None and not row.is_removed:
            self._runs.join(row.run, observer)
        return SandboxProject(
            key=row.project_key, client_id=row.client_id, secret_hash=bytes(row.secret_hash or b""),
            scopes=tuple(row.scopes or ()),
            created_at=row.created_at, expires_at=row.expires_at, is_removed=row.is_removed,
            clock=ProjectClock.read(row.clock), seed=json.loads(row.ids).get("seed"), run=row.run,
            initial_clock=json.loads(row.initial_clock), initial_ids=json.loads(row.initial_ids),
            lock=ProjectLock(self._settings.queue_timeout_ms / 1000), observer=observer,
        )  # fmt: skip

    # Writing

    @contextmanager
    def writing(self, project: SandboxProject) -> Generator[Connection]:
        """Yield a connection for writes to a project, under the shared lock of the project.

        :raises ApiError: 401 if the project has been removed, 503 if it is being replaced for too long.
        """
        with project.lock.shared():
            if project.is_removed:
                raise removed(project.key)
            with self._database.connection(project.key) as connection:
                yield connection

    @contextmanager
    def _turn(self) -> Generator[None]:
        """Wait until few enough other projects are being filled or reset.

        :raises ApiError: 503 if they take too long.
        """
        if not self._turns.acquire(timeout=_TURN_WITHIN_S):
            raise errors.over_capacity("Too many projects of the sandbox are being filled or reset.")
        try:
            yield
        finally:
            self._turns.release()

    @property
    def runs(self) -> Runs:
        """All runs, including those of an earlier process."""
        self.registry.all()  # loads them
        return self._runs

    # Making and removing

    def get(self, project_key: str) -> SandboxProject:
        """The sandbox project with this key.

        :raises ApiError: 404 if the sandbox has no such project.
        """
        found = self.registry.find(project_key)
        if found is None or found.is_removed:
            raise not_found(project_key)
        return found

    def make(self, order: NewProject, token_url: str = "") -> dict[str, Any]:
        """Make a project with a client and a token, and return the answer with its key, credentials and token.

        :param token_url: the URL at which the tester reaches the token endpoint.
        :raises ApiError: 400 ``DuplicateField`` if the key is or was used; 400 if the project to copy is missing or too
            large, or if there are already the most projects or runs; 503 if other projects are being filled, or the
            project to copy is being reset, for too long.
        """
        if len(self.registry.all()) >= PROJECTS_AT_MOST:
            raise errors.invalid_input(
                f"The sandbox has at most {PROJECTS_AT_MOST} projects. Remove those that are not needed any more."
            )
        if order.run is not None:
            self.runs.check_room(order.run)
        # A project without resources is made by few statements, so it needs no turn.
        with self._turn() if order.resources or order.copy_of is not None else nullcontext():
            return self._made(order, token_url)

    def _made(self, order: NewProject, token_url: str) -> dict[str, Any]:
        made = _made_up(order.resources)
        project_key = order.project_key or "sb-" + "".join(secrets.choice(string.ascii_lowercase) for _ in range(12))
        created_at = datetime.fromtimestamp(int(time.time() * 1000) / 1000, UTC)
        expires_at = created_at + timedelta(seconds=order.ttl_s)
        clock = ProjectClock().changed(order.clock)
        scopes = tuple(f"{name}:{project_key}" for name in order.scopes)
        copied = nullcontext() if order.copy_of is None else self._copied(order.copy_of)
        with copied, self._database.connection() as connection, connection.transaction():
            if order.project_key is not None and store.is_used(connection, project_key):
                raise errors.duplicate_field("projectKey", project_key)
            client = clients.create_client(connection, CLIENT_NAME, scopes)
            ids = json.dumps(order.ids)
            row = store.Row(
                project_key, client.client_id, tokens.digest_of(client.client_secret), scopes, created_at,
                expires_at, clock.stored(), ids, json.dumps(order.clock), ids, order.run, json.dumps(order.allow),
            )  # fmt: skip
            if not store.insert(connection, row):
                raise errors.duplicate_field("projectKey", project_key)
            if order.copy_of is not None:
                copies.save(connection, project_key, order.copy_of)
                copies.restore(connection, project_key)
                if has_citus(connection):
                    dictionary.add_words_of_all(connection, project_key)
            elif made:
                for part in made:
                    bulk_store.copy_in(connection, project_key, part)
                copies.save(connection, project_key, project_key)
            clock_and_ids = ProjectClockAndIds(clock, order.ids.get("seed"))
            token = tokens.issue_token(connection, client.client_id, scopes, TOKEN_LIFETIME_S, clock_and_ids)
        project = self._live(row)
        project.journal.secrets.add(client.client_secret)
        project.journal.secrets.add_token(token)
        self.registry.add(project)
        return {
            "projectKey": project_key,
            "clientId": client.client_id,
            "clientSecret": client.client_secret,
            "scope": " ".join(scopes),
            "accessToken": token,
            "tokenUrl": token_url,
            "expiresAt": text_of(expires_at),
        }

    def issue_token(self, project: SandboxProject, token_url: str) -> dict[str, Any]:
        """Issue a token to the project's client, without its secret."""
        clock_and_ids = ProjectClockAndIds(project.clock, project.seed)
        with self._database.connection(project.key) as connection:
            token = tokens.issue_token(connection, project.client_id, project.scopes, TOKEN_LIFETIME_S, clock_and_ids)
        project.journal.secrets.add_token(token)
        return {
            "clientId": project.client_id,
            "scope": " ".join(project.scopes),
            "accessToken": token,
            "tokenUrl": token_url,
            "expiresIn": TOKEN_LIFETIME_S,
        }

    @contextmanager
    def _copied(self, project_key: str) -> Generator[None]:
        """Keep a project that is to be copied from being removed or reset during the block.

        :raises ApiError: 400 if the sandbox has no such project, or if it is too large.
        """
        project = self.registry.find(project_key)
        if project is None or project.is_removed:
            raise errors.ApiError(
                [errors.value_fault("copyOf", project_key, "The sandbox has no project with this key.")]
            )
        with project.lock.shared():
            with self._database.connection(project_key) as connection:
                resources, size = bulk_store.count_and_bytes(connection, project_key)
            if resources > COPIED_AT_MOST or size > COPIED_BYTES_AT_MOST:
                raise errors.invalid_input(
                    f"The project '{project_key}' holds {resources} resources with {size} bytes. At most"
                    f" {COPIED_AT_MOST} resources with {COPIED_BYTES_AT_MOST} bytes can be copied."
                )
            yield

    def remove(self, project_key: str) -> None:
        """Remove a project with all of its data. It can be repeated, and continues an earlier attempt that has failed.

        :raises ApiError: 404 if the sandbox has no such project.
        """
        project = self.registry.find(project_key)
        if project is None:
            raise not_found(project_key)
        with project.removing:
            if self.registry.find(project_key) is not project:
                raise not_found(project_key)  # another request has removed it meanwhile
            with project.lock.alone():
                with self._database.connection(project_key) as connection, connection.transaction():
                    store.mark_removed(connection, project_key)
                    clients.remove_client(connection, project.client_id)
                project.is_removed = True
            # Nobody can write to the project any more, so deleted rows do not come back.
            if project.run is not None:
                self._runs.leave(project.run, project.observer)
            with self._database.connection(project_key) as connection:
                bulk_store.delete_in_parts(connection, project_key)
                with connection.transaction():
                    store.delete(connection, project_key)
                    bulk_store.delete_all(connection, project_key)
                    copies.delete(connection, project_key)
            self._shelf.end(project.journal)
            self.registry.remove(project)

    def remove_expired(self) -> None:
        """Remove the expired projects and runs."""
        for run in self._runs.expired():
            self.remove_run(run)
        now = datetime.now(UTC)
        for project in self.registry.all():
            if project.is_removed or project.expires_at <= now:
                # The next check tries again if the database is away. A request may have removed the project meanwhile.
                with suppress(errors.ApiError):
                    self.remove(project.key)

    def remove_run(self, name: str) -> None:
        """Remove a run with its counts. Its projects stay, and belong to no run any more.

        :raises ApiError: 404.
        """
        self.runs.find(name)
        with self._database.connection() as connection, connection.transaction():
            store.delete_run(connection, name)
        for project in self.registry.all():
            if project.run == name:
                project.run = None
        self._runs.remove(name)

    def reset(self, project_key: str, *, keep_rules: bool, keep_requests: bool) -> None:
        """Restore the initial resources, clock and ids of a project.

        A write that arrives during the reset waits, and is carried out after it.

        :raises ApiError: 404; 503 if other resets, or writes to the project, take too long.
        """
        project = self.get(project_key)
        with (
            self._turn(),
            project.lock.alone(),
            project.changing,
            self._database.connection() as connection,
            connection.transaction(),
        ):
            if project.is_removed:
                raise not_found(project_key)
            copies.restore(connection, project_key)
            clock = ProjectClock().changed(project.initial_clock)
            store.set_clock(connection, project_key, clock)
            store.set_ids(connection, project_key, project.initial_ids)
        project.clock, project.seed = clock, project.initial_ids.get("seed")
        if not keep_rules:
            project.rules = ()
        project.observer.note_removal()
        if not keep_requests:
            self.forget_requests(project)

    def forget_requests(self, project: SandboxProject) -> None:
        """Empty the journal and the report of a project. Its run keeps the results of the requests."""
        if project.run is not None:
            self._runs.leave(project.run, project.observer)
        self._shelf.end(project.journal)
        journal = self._shelf.begin(project.journal.secrets)
        project.observer = Observer(project.key, project.client_id, journal, project.observer.allow)
        if project.run is not None:
            self._runs.join(project.run, project.observer)

    # Clock, ids, rules, tokens

    def set_clock(self, project_key: str, order: dict[str, Any]) -> None:
        """Set the clock of a project.

        :raises ApiError: 404.
        """
        project = self.get(project_key)
        with project.changing:
            clock = project.clock.changed(order)
            with self._database.connection(project_key) as connection:
                store.set_clock(connection, project_key, clock)
            project.clock = clock

    def set_ids(self, project_key: str, order: dict[str, Any]) -> None:
        """Begin a sequence of seeded ids in a project, or end it.

        :raises ApiError: 404.
        """
        project = self.get(project_key)
        with project.changing:
            with self._database.connection(project_key) as connection, connection.transaction():
                store.set_ids(connection, project_key, order)
            project.seed = order.get("seed")

    def set_rules(self, project_key: str, rules: Sequence[Rule]) -> None:
        """Replace the rules of a project. The new rules begin with counts of 0.

        :raises ApiError: 404.
        """
        self.get(project_key).rules = tuple(map(CountedRule, rules))

    def expire_tokens(self, project: SandboxProject) -> None:
        """Revoke all tokens that have been issued to the project's client so far."""
        with self._database.connection(project.key) as connection:
            tokens.revoke_all_tokens(connection, project.client_id)

    # Looking

    def described(self) -> list[dict[str, Any]]:
        """All projects in the form of an answer, the oldest first."""
        with self._database.connection() as connection:
            return [_described(connection, each) for each in self.registry.all() if not each.is_removed]

    def described_one(self, project_key: str) -> dict[str, Any]:
        """One project in the form of an answer.

        :raises ApiError: 404.
        """
        project = self.get(project_key)
        with self._database.connection(project_key) as connection:
            return _described(connection, project)


def _made_up(count: int) -> list[list[ResourceRow]]:
    """Generate the resources with which a project begins, in parts. Other requests of the process run in between."""
    parts: list[list[ResourceRow]] = []
    generated = seed.resources(_MADE_UP_AS, count, _MADE_UP_SEED)
    while part := list(islice(generated, _AT_ONCE)):
        parts.append(part)
        time.sleep(_PAUSE_S)
    return parts


def _described(connection: Connection, project: SandboxProject) -> dict[str, Any]:
    return {
        "projectKey": project.key,
        "createdAt": text_of(project.created_at),
        "expiresAt": text_of(project.expires_at),
        "run": project.run,
        "allow": list(project.observer.allow),
        "resources": bulk_store.count_and_bytes(connection, project.key)[0],
        "requests": project.journal.total,
        "clock": project.clock.described(),
        "ids": {} if project.seed is None else {"seed": project.seed},
    }


def not_found(project_key: str) -> errors.ApiError:
    """The error 404 for a key that no sandbox project has, even if the service has a project with this key."""
    return errors.ApiError([errors.Fault("ResourceNotFound", f"The sandbox has no project '{project_key}'.")])


def removed(project_key: str) -> errors.ApiError:
    """The error 401 for a token of a project that is gone."""
    return errors.token_refused(project_key, "its project is gone")
