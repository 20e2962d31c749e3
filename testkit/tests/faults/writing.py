"""Faults of writes: versions, keys, projections, actions."""

import copy
from dataclasses import replace
from typing import Any

from planted import alter, alter_errors, app, fault, wrap
from small_server.refusals import Refused
from small_server.resources import Resource
from small_server.serving import SmallServer


@fault("9-5")
def an_update_ignores_its_version(server: SmallServer) -> None:
    writes = app(server).writes
    wrap(writes, "update", lambda method, *given: method(*given[:3], {**given[3], "version": None}, given[4]))


@fault("9-5")
def only_an_older_version_conflicts(server: SmallServer) -> None:
    writes = app(server).writes
    wrap(
        writes,
        "compare",
        lambda method, found, version: method(found, version) if (version or 0) < found.version else None,
    )


@fault("9-5")
def a_second_writer_wins_too(server: SmallServer) -> None:
    writes = app(server).writes
    wrap(
        writes,
        "compare",
        lambda method, found, version: None if version == found.version - 1 else method(found, version),
    )


@fault("9-6")
def a_conflict_without_the_current_version(server: SmallServer) -> None:
    alter_errors(server, 409, lambda made: made.body["errors"][0].pop("currentVersion"))


@fault("9-6")
def a_conflict_with_the_version_that_was_sent(server: SmallServer) -> None:
    def conflict(method: Any, found: Resource, version: float) -> Refused:
        return method(replace(found, version=version), version)

    wrap(app(server).writes, "conflict", conflict)


@fault("9-5")
def a_conflict_is_answered_with_400(server: SmallServer) -> None:
    def change(made: Any) -> None:
        made.status = made.body["statusCode"] = 400

    alter_errors(server, 409, change)


@fault("9-7")
def a_conflict_is_carried_out_all_the_same(server: SmallServer) -> None:
    writes = app(server).writes

    def update(method: Any, project: str, client: str, wanted: str, body: Any, conditions: Any) -> Resource:
        found = writes.wanted(project, wanted)
        if body["version"] == found.version:
            return method(project, client, wanted, body, conditions)
        method(project, client, wanted, {**body, "version": found.version}, conditions)
        raise writes.conflict(found, body["version"])

    wrap(writes, "update", update)


@fault("9-2")
def the_version_does_not_rise(server: SmallServer) -> None:
    def stamp(method: Any, made: Resource, client: str) -> None:
        method(made, client)
        made.version -= 1

    wrap(app(server).writes, "stamp", stamp)


@fault("9-3")
def the_version_rises_by_two(server: SmallServer) -> None:
    def stamp(method: Any, made: Resource, client: str) -> None:
        method(made, client)
        made.version += 1

    wrap(app(server).writes, "stamp", stamp)


@fault("9-4")
def the_version_rises_without_a_change(server: SmallServer) -> None:
    wrap(app(server).writes, "change", lambda method, *given, counts=False: method(*given, counts=True))


@fault("9-1")
def the_first_version_is_zero(server: SmallServer) -> None:
    writes = app(server).writes

    def create(method: Any, *given: Any) -> Resource:
        made = method(*given)
        made.version = 0
        return made

    wrap(writes, "create", create)


@fault("9-3")
def the_version_stays_at_nine(server: SmallServer) -> None:
    def stamp(method: Any, made: Resource, client: str) -> None:
        method(made, client)
        made.version = min(made.version, 9)

    wrap(app(server).writes, "stamp", stamp)


@fault("2.2-6")
def the_time_of_the_last_change_stays(server: SmallServer) -> None:
    def stamp(method: Any, made: Resource, client: str) -> None:
        before = made.modified_at
        method(made, client)
        made.modified_at = before

    wrap(app(server).writes, "stamp", stamp)


@fault("2.2-6")
def a_change_sets_the_time_of_creation(server: SmallServer) -> None:
    def stamp(method: Any, made: Resource, client: str) -> None:
        method(made, client)
        made.created_at = "2001-01-01T00:00:00.000Z"

    wrap(app(server).writes, "stamp", stamp)


@fault("4.6-2")
def a_new_resource_is_answered_with_200(server: SmallServer) -> None:
    def change(request: Any, made: Any) -> None:
        if made.status == 201 and request.method == "POST" and request.path.endswith("/resource"):
            made.status = 200

    alter(server, change)


@fault("4.6-11")
def a_location_that_leads_nowhere(server: SmallServer) -> None:
    wrap(app(server), "location", lambda method, *given: method(*given) + "x")


@fault("4.6-6")
def a_post_replaces_all_fields(server: SmallServer) -> None:
    wrap(app(server).writes, "overwrite", lambda method, verb, *given: method("PUT", *given))


@fault("4.8-1")
def a_put_keeps_fields(server: SmallServer) -> None:
    wrap(
        app(server).writes,
        "overwrite",
        lambda method, verb, *given: method("POST" if verb == "PUT" else verb, *given),
    )


@fault("4.7-1")
def a_patch_keeps_fields(server: SmallServer) -> None:
    wrap(
        app(server).writes,
        "overwrite",
        lambda method, verb, *given: method("POST" if verb == "PATCH" else verb, *given),
    )


@fault("4.7-5")
def a_patch_creates_a_resource(server: SmallServer) -> None:
    wrap(
        app(server).writes,
        "target",
        lambda method, verb, *given: method("PUT" if "key" in given[1] and "id" not in given[1] else verb, *given),
    )


@fault("4.8-5")
def a_put_forgets_what_it_has_chosen(server: SmallServer) -> None:
    wrap(app(server).writes, "choose", lambda method, *given: None)


@fault("4.6-7")
def an_unknown_id_creates_a_resource(server: SmallServer) -> None:
    def target(method: Any, verb: str, project: str, body: Any) -> Resource | None:
        return (
            None if "id" in body and not app(server).store.by_id(project, body["id"]) else method(verb, project, body)
        )

    wrap(app(server).writes, "target", target)


@fault("4.8-1")
def a_put_always_creates(server: SmallServer) -> None:
    wrap(
        app(server).writes,
        "target",
        lambda method, verb, *given: None if verb == "PUT" and "id" not in given[1] else method(verb, *given),
    )


@fault("2.2-11")
def a_key_may_be_given_twice(server: SmallServer) -> None:
    app(server).writes.is_taken = lambda project, key: False


@fault("3-2", "3-3")
def a_staged_write_shows_in_the_current_projection(server: SmallServer) -> None:
    writes = app(server).writes
    wrap(writes, "on_collection", lambda method, *given: method(*given[:4], False, given[5]))


@fault("3-1")
def writes_change_the_current_projection_only(server: SmallServer) -> None:
    writes = app(server).writes

    def overwrite(method: Any, verb: str, made: Resource, body: Any, staged: bool) -> None:
        before = copy.deepcopy(made.staged)
        method(verb, made, body, staged)
        if not staged:
            made.staged = before

    wrap(writes, "overwrite", overwrite)


@fault("3-6")
def publish_does_nothing(server: SmallServer) -> None:
    wrap(
        app(server).writes,
        "act",
        lambda method, made, action: None if action["action"] == "publish" else method(made, action),
    )


@fault("3-7")
def the_revert_publishes(server: SmallServer) -> None:
    wrap(
        app(server).writes,
        "act",
        lambda method, made, action: method(
            made, {"action": "publish"} if action["action"] == "revertStagedChanges" else action
        ),
    )


@fault("3-8")
def an_action_ignores_staged(server: SmallServer) -> None:
    wrap(app(server).writes, "act", lambda method, made, action: method(made, {**action, "staged": False}))


@fault("4.10-1")
def actions_apply_in_reverse(server: SmallServer) -> None:
    wrap(app(server).writes, "act_all", lambda method, made, actions: method(made, list(actions)[::-1]))


@fault("4.10-1")
def only_the_first_action_applies(server: SmallServer) -> None:
    wrap(app(server).writes, "act_all", lambda method, made, actions: method(made, list(actions)[:1]))


@fault("2.6-2")
def doing_something_is_no_change(server: SmallServer) -> None:
    wrap(app(server).writes, "change", lambda method, *given, counts=False: method(*given))


@fault("4.10-3")
def actions_before_a_refused_one_stay(server: SmallServer) -> None:
    application = app(server)

    def update(method: Any, call: Any) -> Any:
        try:
            return method(call)
        except Refused as refused:
            found = application.store.by_id(call.project, call.path[1])
            if refused.status == 400 and found is not None and b"changeSomeProperty" in call.body:
                made = copy.deepcopy(found)
                made.current.some_property = made.staged.some_property = "half"
                application.store.keep(call.project, made)
            raise

    wrap(application, "update", update)


@fault("4.10-10")
def five_hundred_and_one_actions_are_accepted(server: SmallServer) -> None:
    bodies = app(server).write_bodies
    bodies.actions = bodies.rules.array(bodies.action)


@fault("4.10-7")
def an_empty_list_of_actions_is_refused(server: SmallServer) -> None:
    def update(method: Any, body: bytes) -> Any:
        made = method(body)
        if not made["actions"]:
            raise app(server).identity.bad_request("No actions.")
        return made

    wrap(app(server).write_bodies, "update", update)


@fault("4.11-1")
def a_deleted_resource_stays(server: SmallServer) -> None:
    app(server).store.remove = lambda project, resource: None


@fault("4.11-2")
def a_delete_answers_without_a_body(server: SmallServer) -> None:
    def change(request: Any, made: Any) -> None:
        if request.method == "DELETE" and made.status == 200:
            made.status, made.body = 204, None

    alter(server, change)


@fault("4.11-5")
def a_delete_ignores_its_version(server: SmallServer) -> None:
    wrap(app(server).writes, "delete", lambda method, *given: method(given[0], given[1], None, given[3]))


@fault("4.11-3")
def a_delete_of_nothing_is_a_success(server: SmallServer) -> None:
    def change(request: Any, made: Any) -> None:
        if request.method == "DELETE" and made.status == 404:
            made.status = 200

    alter(server, change)


@fault("4.11-7")
def the_key_of_a_deleted_resource_stays_taken(server: SmallServer) -> None:
    store, gone = app(server).store, set[str | None]()
    wrap(store, "remove", lambda method, project, resource: (gone.add(resource.key), method(project, resource)))
    writes = app(server).writes

    def target(method: Any, verb: str, project: str, body: Any) -> Any:
        if body.get("key") in gone:
            raise app(server).identity.bad_request("The key is taken.")
        return method(verb, project, body)

    wrap(writes, "target", target)


@fault("9-12")
def a_version_in_a_body_is_ignored(server: SmallServer) -> None:
    writes = app(server).writes

    def on_collection(method: Any, verb: str, project: str, client: str, body: Any, *given: Any) -> Any:
        return method(verb, project, client, {name: body[name] for name in body if name != "version"}, *given)

    wrap(writes, "on_collection", on_collection)
