"""Resources with two projections, and the writes that change them."""

import copy
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from .refusals import Entry, Refused, as_json, bad_parameter, bad_structure, bad_value, duplicate, entry, not_found
from .values import MISSING, BodyRules, Path, suggestion, written

Json = dict[str, Any]

MOST_ACTIONS = 500


@dataclass
class Projection:
    """One of the two faces of a resource."""

    fields: Json = field(default_factory=dict)
    some_property: str | None = None


@dataclass
class Resource:
    """A resource as it is stored."""

    id: str
    key: str | None
    version: int
    created_at: str
    modified_at: str
    created_by: str
    modified_by: str
    current: Projection = field(default_factory=Projection)
    staged: Projection = field(default_factory=Projection)
    documents: Json = field(default_factory=dict, compare=False, repr=False)


class Shapes:
    """How resources look in answers."""

    def whole(self, resource: Resource) -> Json:
        """A resource as it is read by id."""
        shown: Json = {
            "id": resource.id,
            "version": resource.version,
            "createdAt": resource.created_at,
            "lastModifiedAt": resource.modified_at,
            "createdBy": self.client(resource.created_by),
            "lastModifiedBy": self.client(resource.modified_by),
        }
        if resource.key is not None:
            shown["key"] = resource.key
        if resource.current.some_property is not None:
            shown["someProperty"] = resource.current.some_property
        shown["objectTypeProperty"] = self.object_type(resource.current.fields)
        return shown

    def client(self, client_id: str) -> Json:
        """A reference to a client."""
        return {"typeId": "api-client", "id": client_id}

    def object_type(self, fields: Json) -> Json:
        """An ObjectType."""
        return fields

    def listed(self, resource: Resource) -> Json:
        """A result of the list."""
        shown = self.whole(resource)
        for name in ("createdBy", "lastModifiedBy", "someProperty"):
            shown.pop(name, None)
        return {**shown.pop("objectTypeProperty"), **shown}

    def found(self, resource: Resource, staged: bool) -> Json:
        """A result of a search."""
        chosen = resource.staged if staged else resource.current
        shown = self.listed(replace(resource, current=chosen))
        if chosen.some_property is not None:
            shown["someProperty"] = chosen.some_property
        shown["hasStagedChanges"] = self.has_staged_changes(resource)
        return shown

    def has_staged_changes(self, resource: Resource) -> bool:
        """Whether the projections differ."""
        return resource.current != resource.staged


class ETags:
    """Entity tags, and the preconditions of RFC 9110 section 13."""

    LISTED = re.compile(r'\s*(?:,\s*)*((?:W/)?"[^"]*")\s*')

    def of(self, resource: Resource) -> str:
        """The entity tag of a resource."""
        return f'"{resource.version}"'

    def read(self, name: str, text: str) -> list[str]:
        """The tags in a header.

        :raises Refused: if it is none.
        """
        if text.strip() == "*":
            return ["*"]
        if not re.fullmatch(r'\s*(,\s*)*((W/)?"[^"]*"\s*(,\s*|$))+', text):
            raise Refused(400, bad_parameter(name, "Entity tags in double quotes, or *, are expected."))
        return re.findall(r'(?:W/)?"[^"]*"', text)

    def held(self, tags: list[str], resource: Resource, *, weak: bool) -> bool:
        """Whether a tag of a header is that of the resource."""
        own = self.of(resource)
        return "*" in tags or own in tags or (weak and f"W/{own}" in tags)

    def failed(self) -> Refused:
        """The answer when a precondition does not hold."""
        return Refused(412, entry("PreconditionFailed", "A precondition of the request does not hold."))


@dataclass(frozen=True)
class Preconditions:
    """``If-Match`` and ``If-None-Match`` of a request; None: not sent."""

    match: list[str] | None = None
    none_match: list[str] | None = None


class Store:
    """All resources, by project and id. ``lock`` is held during a write."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.projects: dict[str, dict[str, Resource]] = {}
        self.unnamed: dict[str, str] = {}
        self._ids: dict[tuple[str, str | None], str] = {}
        self._last = 0

    def resources(self, project: str) -> list[Resource]:
        """All of a project, as they are now."""
        with self.lock:
            return list(self.projects.get(project, {}).values())

    def by_id(self, project: str, wanted: str) -> Resource | None:
        """The resource with an id."""
        with self.lock:
            return self.projects.get(project, {}).get(wanted.lower())

    def by_key(self, project: str, key: str) -> Resource | None:
        """The resource with a key."""
        with self.lock:
            return self.projects.get(project, {}).get(self._ids.get((project, key), ""))

    def keep(self, project: str, resource: Resource) -> None:
        """Store a resource in the place of the one with its id."""
        with self.lock:
            before = self.projects.setdefault(project, {}).get(resource.id)
            self.projects[project][resource.id] = resource
            if before is not None and before.key != resource.key:
                self._ids.pop((project, before.key), None)
            self._ids[project, resource.key] = resource.id

    def remove(self, project: str, resource: Resource) -> None:
        """Remove a resource."""
        with self.lock:
            del self.projects[project][resource.id]
            self._ids.pop((project, resource.key), None)

    def new_id(self) -> str:
        """A UUID of version 7, greater than all before."""
        with self.lock:
            self._last = max(self._last + 1, int(time.time() * 1000) << 12)
            high, low = self._last >> 12, self._last & 0xFFF
        tail = secrets.token_hex(8)
        return f"{high >> 16:08x}-{high & 0xFFFF:04x}-7{low:03x}-8{tail[1:4]}-{tail[4:]}"


Change = Callable[[Resource], None]
"""Changes a copy of a resource, which is stored if it differs."""


class Writes:
    """The rules of writes."""

    def __init__(self, store: Store, tags: ETags) -> None:
        self.store = store
        self.tags = tags

    def now(self) -> str:
        """The time of a write."""
        return written(int(time.time() * 1000))

    def on_collection(
        self, method: str, project: str, client: str, body: Json, staged: bool, conditions: Preconditions
    ) -> tuple[int, Resource]:
        """POST, PUT and PATCH on the collection: the status, and the resource."""
        with self.store.lock:
            found = self.target(method, project, body)
            self.hold(conditions, found)
            if found is None:
                status, made = 201, self.create(project, client, body, staged)
            else:
                self.compare(found, body.get("version"))
                status = 200
                made = self.change(
                    project, client, found, lambda changed: self.overwrite(method, changed, body, staged)
                )
            if method != "POST" and "id" not in body and "key" not in body:
                self.choose(project, made)
            return status, made

    def choose(self, project: str, made: Resource) -> None:
        """Note the unnamed resource of a project."""
        self.store.unnamed[project] = made.id

    def target(self, method: str, project: str, body: Json) -> Resource | None:
        """The resource that a write on the collection means; None: it creates one."""
        if "id" in body:
            found = self.store.by_id(project, body["id"])
            if found is None:
                raise not_found("ID", body["id"])
            return found
        if "key" in body:
            found = self.store.by_key(project, body["key"])
            if found is None and method == "PATCH":
                raise not_found("key", body["key"])
            return found
        return None if method == "POST" else self.only(method, project)

    def only(self, method: str, project: str) -> Resource | None:
        """The resource that PUT and PATCH mean that name none: the unnamed one, else the only one."""
        there = self.store.resources(project)
        chosen = [resource for resource in there if resource.id == self.store.unnamed.get(project)]
        if chosen:
            return chosen[0]
        if len(there) > 1 and method == "PUT":
            return None
        if len(there) > 1:
            raise Refused(400, entry("InvalidInput", "The project has several resources: 'id' or 'key' is needed."))
        if not there and method == "PATCH":
            raise Refused(404, entry("ResourceNotFound", "The project has no resource."))
        return there[0] if there else None

    def hold(self, conditions: Preconditions, found: Resource | None) -> None:
        """Look at the preconditions of a write.

        :raises Refused: if one does not hold.
        """
        if conditions.match is not None and (found is None or not self.tags.held(conditions.match, found, weak=False)):
            raise self.tags.failed()
        if (
            conditions.none_match is not None
            and found is not None
            and self.tags.held(conditions.none_match, found, weak=True)
        ):
            raise self.tags.failed()

    def compare(self, found: Resource, version: float | None) -> None:
        """Look at the version that a write expects.

        :raises Refused: if it is another one.
        """
        if version is not None and version != found.version:
            raise self.conflict(found, version)

    def conflict(self, found: Resource, version: float) -> Refused:
        """The answer to a write that expects another version."""
        message = (
            f"Object {found.id} has a different version than expected."
            f" Expected: {as_json(version)} - Actual: {found.version}."
        )
        return Refused(409, entry("ConcurrentModification", message, currentVersion=found.version))

    def create(self, project: str, client: str, body: Json, staged: bool) -> Resource:
        """Store a new resource."""
        now = self.now()
        made = Resource(self.store.new_id(), body.get("key"), 1, now, now, client, client)
        made.staged.fields = body["objectTypeProperty"]
        if not staged:
            made.current.fields = body["objectTypeProperty"]
        self.store.keep(project, made)
        return made

    def overwrite(self, method: str, made: Resource, body: Json, staged: bool) -> None:
        """Change a resource as a write on the collection says."""
        made.key = body.get("key", made.key)
        for projection in (made.staged,) if staged else (made.staged, made.current):
            kept = projection.fields if method == "POST" else {}
            projection.fields = {**kept, **body["objectTypeProperty"]}

    def change(self, project: str, client: str, found: Resource, change: Change, *, counts: bool = False) -> Resource:
        """Change a resource, and raise its version if that makes a difference.

        :param counts: whether it is a change in any case.
        """
        made = copy.deepcopy(replace(found, documents={}))
        change(made)
        if made == found and not counts:
            return found
        if made.key != found.key and self.is_taken(project, made.key):
            raise duplicate("key", made.key)
        self.stamp(made, client)
        self.store.keep(project, made)
        return made

    def is_taken(self, project: str, key: str | None) -> bool:
        """Whether a resource has a key."""
        return key is not None and self.store.by_key(project, key) is not None

    def stamp(self, made: Resource, client: str) -> None:
        """Note a change."""
        made.version += 1
        made.modified_at = max(made.modified_at, self.now())
        made.modified_by = client

    # By id

    def update(self, project: str, client: str, wanted: str, body: Json, conditions: Preconditions) -> Resource:
        """Apply update actions."""
        with self.store.lock:
            found = self.wanted(project, wanted)
            self.hold(conditions, found)
            self.compare(found, body["version"])
            counts = any(action["action"] == "doSomeThing" for action in body["actions"])
            return self.change(project, client, found, lambda made: self.act_all(made, body["actions"]), counts=counts)

    def act_all(self, made: Resource, actions: Iterable[Json]) -> None:
        """Apply actions in their order."""
        for action in actions:
            self.act(made, action)

    def act(self, made: Resource, action: Json) -> None:
        """Apply an action."""
        if action["action"] == "changeSomeProperty":
            made.staged.some_property = action["someProperty"]
            if not action.get("staged", False):
                made.current.some_property = action["someProperty"]
        elif action["action"] == "publish":
            made.current = copy.deepcopy(made.staged)
        elif action["action"] == "revertStagedChanges":
            made.staged = copy.deepcopy(made.current)

    def delete(self, project: str, wanted: str, version: float | None, conditions: Preconditions) -> Resource:
        """Remove a resource."""
        with self.store.lock:
            found = self.wanted(project, wanted)
            self.hold(conditions, found)
            self.compare(found, version)
            self.store.remove(project, found)
            return found

    def wanted(self, project: str, wanted: str) -> Resource:
        """The resource with an id.

        :raises Refused: if there is none.
        """
        found = self.store.by_id(project, wanted)
        if found is None:
            raise not_found("ID", wanted)
        return found


class WriteBodies:
    """The bodies of writes."""

    IGNORED = ("createdAt", "lastModifiedAt", "createdBy", "lastModifiedBy", "someProperty")

    def __init__(self, rules: BodyRules) -> None:
        self.rules = rules

    def on_collection(self, method: str, body: bytes, *, has_match: bool) -> Json:
        """The body of a write on the collection."""
        rules = self.rules
        required = ("version", "objectTypeProperty") if method == "PATCH" and not has_match else ("objectTypeProperty",)
        fields = {
            "id": rules.text,
            "version": rules.any_number,
            "key": rules.key,
            "objectTypeProperty": rules.object_type(),
            **dict.fromkeys(self.IGNORED, rules.anything),
        }
        return rules.checked(rules.record(fields, required), body)

    def update(self, body: bytes) -> Json:
        """The body of an update by id."""
        fields = {"version": self.rules.any_number, "actions": self.actions}
        return self.rules.checked(self.rules.record(fields, ("version", "actions")), body)

    def actions(self, value: Any, path: Path) -> tuple[Any, list[Entry]]:
        """A list of update actions."""
        if isinstance(value, list) and len(value) > MOST_ACTIONS:
            return value, [bad_value(path, value, f"At most {MOST_ACTIONS} actions are allowed.")]
        return self.rules.array(self.action)(value, path)

    def action(self, value: Any, path: Path) -> tuple[Any, list[Entry]]:
        """An update action."""
        rules = self.rules
        known = {
            "changeSomeProperty": {"someProperty": rules.text, "staged": rules.flag},
            "doSomeThing": {},
            "publish": {},
            "revertStagedChanges": {},
        }
        if not isinstance(value, dict):
            return value, [bad_structure(path, "JSON object expected.")]
        if "action" not in value:
            return value, [bad_structure((*path, "action"), MISSING)]
        name = value["action"]
        if not isinstance(name, str):
            return value, [bad_structure((*path, "action"), "JSON String expected.")]
        if name not in known:
            listed = ", ".join(f"'{each}'" for each in known)
            reason = f"Unknown action. Known are {listed}.{suggestion(name, known)}"
            return value, [bad_structure((*path, "action"), reason)]
        required = ("someProperty",) if name == "changeSomeProperty" else ()
        return rules.record({"action": rules.text, **known[name]}, required)(value, path)
