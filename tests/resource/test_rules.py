"""The write rules alone, without a database: what a write makes of a resource, or why it is refused."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from app.errors import ApiError
from app.resource.actions import ChangeSomeProperty, DoSomeThing, Publish, RevertStagedChanges, UpdateAction
from app.resource.model import ById, ByKey, Caller, Content, NewResource, OwnYoungest, Preconditions, Resource, Target
from app.resource.object_type import ObjectType
from app.resource.writing.rules import Write, decide

AT = datetime(2030, 1, 1, tzinfo=UTC)
NONE = Preconditions()
CONTENT = Content(ObjectType('{"arrayOfIntExample":[1],"arrayOfStringExample":["a"]}'), "text")
STORED = Resource(UUID(int=7), 3, "a-key", AT, AT, "maker", "maker", CONTENT, CONTENT)
WRITER = Caller("p", "writer")
NEW = NewResource("a-key", CONTENT, CONTENT, "writer")


def write(*actions: UpdateAction, conditions: Preconditions = NONE) -> Write:
    def change(resource: Resource) -> Resource:
        for action in actions:
            resource = action.apply(resource)
        return resource

    return Write(WRITER, ById(str(STORED.id)), change, conditions)


def refusal_of(call: Any, *arguments: Any) -> tuple[int, str]:
    with pytest.raises(ApiError) as refused:
        call(*arguments)
    return refused.value.status, refused.value.faults[0].code


def test_a_change_raises_the_version_by_one_and_names_the_writer() -> None:
    after = decide(STORED, write(ChangeSomeProperty("new", staged=False), DoSomeThing(), DoSomeThing()))
    content = replace(CONTENT, some_property="new")
    assert after == replace(STORED, version=4, last_modified_by="writer", current=content, staged=content)


@pytest.mark.parametrize(
    "actions",
    [
        [],
        [Publish()],
        [RevertStagedChanges()],
        [ChangeSomeProperty("text", staged=False)],
        [ChangeSomeProperty("other", staged=True), RevertStagedChanges()],
    ],
)
def test_what_changes_nothing_leaves_everything_as_it_was(actions: list[UpdateAction]) -> None:
    assert decide(STORED, write(*actions)) == STORED


def test_actions_see_what_those_before_them_have_made() -> None:
    after = decide(
        STORED, write(ChangeSomeProperty("new", staged=True), Publish(), ChangeSomeProperty("x", staged=True))
    )
    assert (after.current.some_property, after.staged.some_property) == ("new", "x")


@pytest.mark.parametrize(
    ("conditions", "refusal"),
    [
        (Preconditions(expected=3), None),
        (Preconditions(expected=3.0), None),
        (Preconditions(expected=2), (409, "ConcurrentModification")),
        (Preconditions(expected=3.5), (409, "ConcurrentModification")),
        (Preconditions(expected=10**30), (409, "ConcurrentModification")),
        (Preconditions(expected=1e300), (409, "ConcurrentModification")),
        (Preconditions(if_match=frozenset((1, 2)), expected=2), (412, "PreconditionFailed")),
        (Preconditions(if_match=frozenset((2, 3))), None),
        (Preconditions(if_none_match="*"), (412, "PreconditionFailed")),
    ],
)
def test_preconditions_are_those_of_the_resource_that_was_read(
    conditions: Preconditions, refusal: tuple[int, str] | None
) -> None:
    asked = write(DoSomeThing(), conditions=conditions)
    if refusal is None:
        assert decide(STORED, asked).version == 4
    else:
        assert refusal_of(decide, STORED, asked) == refusal


@pytest.mark.parametrize(
    ("target", "creates", "conditions", "refusal"),
    [
        (None, NEW, NONE, None),
        (ByKey("a-key"), NEW, NONE, None),
        (OwnYoungest("a-client"), NEW, NONE, None),
        (OwnYoungest("a-client"), None, NONE, (404, "ResourceNotFound")),
        (OwnYoungest("a-client"), NEW, Preconditions(if_match="*"), (412, "PreconditionFailed")),
        (ByKey("a-key"), None, NONE, (404, "ResourceNotFound")),
        (ById("x"), NEW, Preconditions(if_match="*"), (404, "ResourceNotFound")),
        (ByKey("a-key"), NEW, Preconditions(if_match="*"), (412, "PreconditionFailed")),
        (ByKey("a-key"), NEW, Preconditions(expected=9), None),
        (ByKey("a-key"), NEW, Preconditions(if_none_match="*"), None),
    ],
)
def test_what_is_created_if_there_is_no_resource(
    target: Target | None, creates: NewResource | None, conditions: Preconditions, refusal: tuple[int, str] | None
) -> None:
    asked = Write(WRITER, target, lambda resource: resource, conditions, creates)
    if refusal is None:
        assert decide(None, asked) == creates
    else:
        assert refusal_of(decide, None, asked) == refusal


@pytest.mark.parametrize("staged", [False, True])
def test_an_object_type_has_a_largest_size(staged: bool) -> None:
    def write_of(letters: str) -> Write:
        made = Content(ObjectType(f'{{"arrayOfStringExample":["{letters}"]}}'))
        return Write(WRITER, None, lambda stored: stored.with_content(lambda _: made, staged_only=staged), NONE)

    letters = "ä" * 32_753 + "x"  # 65,507 bytes, and 29 around them
    assert decide(STORED, write_of(letters)).version == 4
    assert refusal_of(decide, STORED, write_of(letters + "x")) == (400, "InvalidField")


# ObjectTypes


def test_an_object_type_keeps_the_texts_of_the_fields_that_are_not_replaced() -> None:
    stored = ObjectType(
        '{"arrayOfIntExample":[1,2],"arrayOfFloatExample":[1e+300,-0.0],"arrayOfStringExample":["\\"é"]}'
    )
    sent = ObjectType.of({"arrayOfStringExample": [], "arrayOfUniqueIntExample": [5]})
    assert stored.merged_with(sent).text == (
        '{"arrayOfIntExample":[1,2],"arrayOfUniqueIntExample":[5],"arrayOfFloatExample":[1e+300,-0.0],'
        '"arrayOfStringExample":[]}'
    )
    assert (stored.merged_with(ObjectType()), ObjectType().merged_with(stored)) == (stored, stored)
    assert ObjectType('{"ofNextRelease":[1]}').merged_with(sent).text[-21:] == ',"ofNextRelease":[1]}'
