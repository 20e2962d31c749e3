"""Making, resetting and removing projects, their snapshots, clocks, ids and rules: what is done, in which order.

A change is one transaction, whose last part notifies the workers; its answer waits for them
(:mod:`app.sandbox.projects.bus`).
"""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any
from uuid import UUID

from psycopg.errors import UniqueViolation

from app import errors
from app.bulk import seed
from app.config import Settings
from app.database.connection import Connection
from app.database.pool import Database
from app.identity import clients, issued_tokens
from app.identity.signing_keys import KeyEncryption
from app.identity.token_profile import TOKEN_LIFETIME_S
from app.resource import bulk_store
from app.resource.model import StoredResource
from app.sandbox.journal import store as journal_store
from app.sandbox.projects import fence, runs
from app.sandbox.projects import store as project_store
from app.sandbox.projects.bus import Bus, Message, Notice
from app.sandbox.projects.clock import ProjectClock
from app.sandbox.projects.ids import ids_made, seed_of, set_ids_made
from app.sandbox.projects.model import SandboxProject
from app.sandbox.projects.orders import NewProject, drafted, new_key
from app.sandbox.projects.world import ProjectWorld
from app.sandbox.rules import counting
from app.sandbox.rules.rules import Rule, read_rules
from app.values.timestamps import text_of

CLIENT_NAME = "sandbox"

_INITIAL = ""
"""The name of the copy that a reset restores; no snapshot can have it."""

_MADE_UP_AS = "sandbox"
"""Generated resources depend on the name of a project; with this one, they are the same in all."""

_MADE_UP_SEED = 1
_AT_ONCE = 50
"""Resources that are generated before other requests of the process have their turn."""

PROJECTS_AT_MOST = 1000
SNAPSHOTS_AT_MOST = 20
"""Of a project."""
COPIED_AT_MOST = 20_000
COPIED_BYTES_AT_MOST = 64 * 1024 * 1024
"""Resources of a snapshot or a copy of a project, and bytes of their documents."""


class Projects:
    """The sandbox projects of a database.

    :param judge: counts for the run of a project what the journal shows that is going to be deleted.
    """

    def __init__(self, database: Database, settings: Settings, bus: Bus, judge: Callable[[str], None]) -> None:
        self._database = database
        self._settings = settings
        self._bus = bus
        self._judge = judge
        self._encryption = KeyEncryption(settings.key_encryption_keys)

    # Making and removing

    def make(self, order: NewProject, token_url: str = "") -> dict[str, Any]:
        """Make a project with a client and a token, and return what its tester needs.

        :param token_url: under which the tester reaches the token endpoint.
        :raises ApiError: 400 ``DuplicateField`` if something has used the key; 400 if the project to copy is not there
            or is too large, or if there are :data:`PROJECTS_AT_MOST` or :data:`runs.RUNS_AT_MOST`.
        """
        with self._database.connection() as connection:
            _raise_if_too_many(connection, one_more=True)
            run_id = None if order.run is None else self._begun_run(connection, order.run)
        copied = self._copied(order)
        project_key = order.project_key or new_key()
        created_at = datetime.fromtimestamp(int(time.time() * 1000) / 1000, UTC)
        expires_at = created_at + timedelta(seconds=order.ttl_s)
        clock = ProjectClock().changed(order.clock)
        scopes = tuple(f"{name}:{project_key}" for name in order.scopes)
        with self._change(project_key) as change:
            connection = change.connection
            if order.project_key is not None and project_store.is_used(connection, project_key):
                raise errors.duplicate_field("projectKey", project_key)
            client = clients.create_client(connection, CLIENT_NAME, scopes)
            if not project_store.insert(
                connection, project_key, client.client_id, created_at, expires_at, clock, order.clock, order.ids,
                ids_made=len(order.drafts), token_ttl_s=order.token_ttl_s, run_id=run_id,
            ):  # fmt: skip
                raise errors.duplicate_field("projectKey", project_key)
            if order.drafts:
                at = text_of(clock.write_time() or created_at)
                copied = drafted(order.drafts, seed_of(order.ids), client.client_id, at)
                set_ids_made(connection, project_key, len(copied))
            if copied:
                try:
                    bulk_store.copy_in_parts(connection, project_key, copied)
                except UniqueViolation:  # somebody imports into the project that is just being made
                    raise errors.duplicate_field("projectKey", project_key) from None
                bulk_store.save_copy(connection, project_key, _INITIAL)
            world = ProjectWorld(
                SandboxProject(
                    project_key, client.client_id, b"", is_removed=False, clock=clock, seed=seed_of(order.ids),
                    rules=(), rules_generation=0, token_epoch=0, token_ttl_s=order.token_ttl_s,
                )
            )  # fmt: skip
            lifetime_s = world.token_lifetime_s(TOKEN_LIFETIME_S)
            token = issued_tokens.issue_token(
                connection, self._settings.issuer, client.client_id, scopes, lifetime_s, self._encryption, world
            )
            change.kind, change.client_id = "made", client.client_id
            self._bus.begin_last_part(connection)  # one after the other, so that they see each other
            _raise_if_too_many(connection)
            if run_id is not None:
                runs.add(connection, run_id, {("project", ""): runs.Count(1, [])})
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
        """Issue a token to the project's client. Its secret is not needed, and stays what it is."""
        world = ProjectWorld(project)
        lifetime_s = world.token_lifetime_s(TOKEN_LIFETIME_S)
        with self._database.connection(project.key) as connection:
            scopes = project_store.scopes(connection, project.key)
            token = issued_tokens.issue_token(
                connection, self._settings.issuer, project.client_id, scopes, lifetime_s, self._encryption, world
            )
        return {
            "clientId": project.client_id,
            "scope": " ".join(scopes),
            "accessToken": token,
            "tokenUrl": token_url,
            "expiresIn": lifetime_s,
        }

    def _begun_run(self, connection: Connection, run: str) -> UUID:
        if runs.find_id(connection, run) is None and runs.how_many(connection) >= runs.RUNS_AT_MOST:
            raise errors.invalid_input(
                f"The sandbox has at most {runs.RUNS_AT_MOST} runs. Remove those that are not needed any more."
            )
        return runs.begin(connection, run, datetime.now(UTC), self._settings.sandbox_run_ttl_s)

    def _copied(self, order: NewProject) -> list[StoredResource]:
        """The resources of the new project. They are generated before a connection is held."""
        if order.copy_of is not None:
            return self._exported(order.copy_of)
        made: list[StoredResource] = []
        generated = seed.resources(_MADE_UP_AS, order.resources, _MADE_UP_SEED)
        while some := list(islice(generated, _AT_ONCE)):
            made += some
            time.sleep(0)  # other greenlets run
        return made

    def _exported(self, project_key: str) -> list[StoredResource]:
        """What a project holds. Its fence keeps it there until all of it is read."""
        with self._database.writing(project_key) as connection:
            if not project_store.details(connection, project_key):
                raise errors.ApiError(
                    [errors.value_fault("copyOf", project_key, "The sandbox has no project with this key.")]
                )
            _raise_if_too_large(connection, project_key)
            return list(bulk_store.export(connection, project_key))

    def remove(self, project_key: str) -> None:
        """Remove a project and everything of it. It may be repeated, and it goes on where an earlier try ended.

        :raises ApiError: 404 if the sandbox has no such project.
        """
        run_id = self._count_for_run(project_key)
        with self._change(project_key, replaces=True) as change:
            client_id = project_store.mark_removed(change.connection, project_key)
            if client_id is None:
                raise not_found(project_key)
            clients.remove_client(change.connection, client_id)
        # From here on no write passes the fence, so whatever is deleted stays so.
        with self._database.connection(project_key) as connection:
            bulk_store.delete_in_parts(connection, project_key)
        with self._change(project_key, kind="gone", client_id=client_id) as change:
            project_store.delete(change.connection, project_key)  # first: it waits for journals that are being written
            bulk_store.delete_all(change.connection, project_key)
            counting.begin_counts(change.connection, project_key, 2**62, 0)
            journal_store.delete_all(change.connection, project_key)
            if run_id is not None:
                runs.prolong(change.connection, run_id, datetime.now(UTC), self._settings.sandbox_run_ttl_s)

    def _count_for_run(self, project_key: str) -> UUID | None:
        """Have the run of a project count what its journal shows; the run's id."""
        with self._database.connection(project_key) as connection:
            judged = runs.judged(connection, project_key)
        if judged is None:
            return None
        self.flush(project_key)
        self._judge(project_key)
        return judged.run_id

    def remove_expired(self) -> None:
        """Remove the projects and the runs whose time is over.

        :raises ApiError: 503 if some of them could not be removed.
        """
        with self._database.connection() as connection, connection.transaction():
            keys = project_store.expired(connection)
            for run in runs.expired(connection):
                runs.remove(connection, run)
        failed: errors.ApiError | None = None
        for project_key in keys:
            try:
                self.remove(project_key)
            except errors.ApiError as error:
                if error.status != 404:  # 404: another worker was faster
                    failed = error
        if failed is not None:
            raise failed

    def reset(self, project_key: str, *, keep_rules: bool, keep_requests: bool) -> None:
        """Make a project what it was when it was made; its snapshots stay.

        What was written before the reset is gone with it; a write that comes meanwhile waits, and stays.

        :raises ApiError: 404.
        """
        if not keep_requests and self._count_for_run(project_key) is None:
            self.flush(project_key)
        with self._change(project_key, replaces=True) as change:
            connection = change.connection
            _, _, _, clock_order, ids_order = _locked(connection, project_key)
            bulk_store.restore_copy(connection, project_key, _INITIAL)
            project_store.set_clock(connection, project_key, ProjectClock().changed(clock_order))
            made = ids_order.pop("made", 0)
            project_store.set_ids(connection, project_key, ids_order)
            set_ids_made(connection, project_key, made)
            if not keep_rules:
                generation = project_store.set_rules(connection, project_key, "[]")
                counting.begin_counts(connection, project_key, generation, 0)
            if not keep_requests:
                journal_store.delete_all(connection, project_key)

    # Snapshots

    def save(self, project_key: str, name: str) -> None:
        """Keep what the project holds under a name.

        :raises ApiError: 404; 400 if it has :data:`SNAPSHOTS_AT_MOST` others, or holds too much.
        """
        with self._change(project_key, replaces=True) as change:
            _, ids, snapshots, *_ = _locked(change.connection, project_key)
            if name not in snapshots and len(snapshots) >= SNAPSHOTS_AT_MOST:
                raise errors.invalid_input(
                    f"A project has at most {SNAPSHOTS_AT_MOST} snapshots. One with a name that it has is replaced."
                )
            _raise_if_too_large(change.connection, project_key)
            bulk_store.save_copy(change.connection, project_key, name)
            snapshots[name] = {
                "createdAt": text_of(datetime.now(UTC)),
                "seed": seed_of(ids),
                "made": ids_made(change.connection, project_key),
            }
            project_store.set_snapshots(change.connection, project_key, snapshots)

    def restore(self, project_key: str, name: str) -> None:
        """Let the project hold what it held at the snapshot; a seed goes on as it did after it.

        :raises ApiError: 404.
        """
        with self._change(project_key, replaces=True) as change:
            _, ids, snapshots, *_ = _locked(change.connection, project_key)
            if name not in snapshots:
                raise errors.ApiError(
                    [errors.Fault("ResourceNotFound", f"The project '{project_key}' has no snapshot '{name}'.")]
                )
            bulk_store.restore_copy(change.connection, project_key, name)
            if seed_of(ids) is not None and seed_of(ids) == snapshots[name]["seed"]:
                set_ids_made(change.connection, project_key, snapshots[name]["made"])

    # Clock, ids, rules, tokens

    def set_clock(self, project_key: str, order: dict[str, Any]) -> None:
        """Set the project's clock.

        :raises ApiError: 404.
        """
        with self._change(project_key) as change:
            clock, *_ = _locked(change.connection, project_key)
            project_store.set_clock(change.connection, project_key, clock.changed(order))

    def set_ids(self, project_key: str, order: dict[str, Any]) -> None:
        """Begin a sequence of ids, or end it.

        :raises ApiError: 404.
        """
        with self._change(project_key) as change:
            _locked(change.connection, project_key)
            project_store.set_ids(change.connection, project_key, order)
            set_ids_made(change.connection, project_key, 0)

    def set_rules(self, project_key: str, rules: str) -> None:
        """Replace the rules; they begin to count anew.

        :param rules: the checked JSON text.
        :raises ApiError: 404.
        """
        with self._change(project_key) as change:
            try:
                generation = project_store.set_rules(change.connection, project_key, rules)
            except LookupError:
                raise not_found(project_key) from None
            counting.begin_counts(change.connection, project_key, generation, len(read_rules(rules)))

    def rules(self, project: SandboxProject) -> list[tuple[Rule, int, int]]:
        """Each rule with how often it has matched and acted."""
        with self._database.connection(project.key) as connection:
            counted = counting.counts(connection, project.key, project.rules_generation)
        return [(rule, *counted.get(rule.number, (0, 0))) for rule in project.rules]

    def expire_tokens(self, project_key: str) -> None:
        """Let all tokens of the project's client be invalid that have been issued so far."""
        with self._change(project_key) as change:
            project_store.begin_token_epoch(change.connection, project_key)

    # Looking

    def described(self, project_key: str | None = None) -> list[dict[str, Any]]:
        """All projects, or the one with this key.

        :raises ApiError: 404 if there is none with it.
        """
        self.flush(project_key or "")
        with self._database.connection(project_key or "") as connection:
            found = project_store.details(connection, project_key)
            if project_key is not None and not found:
                raise not_found(project_key)
            return [_described(connection, each) for each in found]

    def flush(self, project_key: str) -> None:
        """Have all workers write what their journals have in memory, so that it shows what was answered until now."""
        with self._database.connection(project_key) as connection:
            notice = self._bus.ask(connection, Message("flush", project_key))
        self._bus.wait(notice, self._listeners)

    @contextmanager
    def _change(
        self, project_key: str, kind: str = "changed", client_id: str = "", *, replaces: bool = False
    ) -> Generator["_Change"]:
        """A transaction that changes a project.

        :param replaces: whether it concerns all resources at once, so that no write may come between.
        """
        notice: Notice | None = None
        try:
            with self._database.connection(project_key) as connection, connection.transaction():
                if replaces:
                    fence.close(connection, project_key)
                change = _Change(connection, kind, client_id)
                yield change
                notice = self._bus.notify(connection, Message(change.kind, project_key, change.client_id))
        except BaseException:
            if notice is not None:
                self._bus.withdraw(notice)  # it was not committed
            raise
        self._bus.wait(notice, self._listeners)

    def _listeners(self) -> set[int]:
        with self._database.connection() as connection:
            return self._bus.listeners(connection)


@dataclass(slots=True)
class _Change:
    connection: Connection
    kind: str
    client_id: str


def not_found(project_key: str) -> errors.ApiError:
    """404: the sandbox has made no project with this key, whatever the service holds of it."""
    return errors.ApiError([errors.Fault("ResourceNotFound", f"The sandbox has no project '{project_key}'.")])


def _raise_if_too_many(connection: Connection, *, one_more: bool = False) -> None:
    if project_store.count(connection) + one_more > PROJECTS_AT_MOST:
        raise errors.invalid_input(
            f"The sandbox has at most {PROJECTS_AT_MOST} projects. Remove those that are not needed any more."
        )


def _raise_if_too_large(connection: Connection, project_key: str) -> None:
    resources, size = bulk_store.weight(connection, project_key)
    if resources > COPIED_AT_MOST or size > COPIED_BYTES_AT_MOST:
        raise errors.invalid_input(
            f"The project '{project_key}' holds {resources} resources with {size} bytes. At most {COPIED_AT_MOST}"
            f" resources with {COPIED_BYTES_AT_MOST} bytes can be copied."
        )


def _locked(
    connection: Connection, project_key: str
) -> tuple[ProjectClock, dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]:
    try:
        return project_store.lock(connection, project_key)
    except LookupError:
        raise not_found(project_key) from None


def _described(connection: Connection, found: project_store.Details) -> dict[str, Any]:
    return {
        "projectKey": found.project_key,
        "createdAt": text_of(found.created_at),
        "expiresAt": text_of(found.expires_at),
        "run": found.run,
        "resources": bulk_store.count(connection, found.project_key),
        "requests": project_store.count_requests(connection, found.project_key),
        "tokenTtlSeconds": found.token_ttl_s or TOKEN_LIFETIME_S,
        "clock": found.clock.described(),
        "ids": found.ids,
        "snapshots": _snapshots(found.snapshots),
    }


def _snapshots(stored: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"name": name, "createdAt": stored[name]["createdAt"]} for name in sorted(stored)]
