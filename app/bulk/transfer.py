"""Exports and imports resources as lines of JSON (NDJSON).

Lines are streamed: memory grows with the bytes of the largest resource, and not with the number of resources.

A line is a resource as the API returns it, with an additional member ``staged`` if the staged projection differs. An
import can be repeated, for example after an interruption: a line without an id gets one that is derived from its text,
line number and ``createdAt``, and lines whose id already exists are skipped.

The last line of an export contains the number of the other lines, so an import notices an export that was cut short. A
file that was made by hand needs no such line.
"""

import re
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, BinaryIO
from uuid import UUID

from marshmallow import ValidationError

from app import errors
from app.database.connection import Connection, unlimited
from app.resource import bulk_store
from app.resource.model import KEY_PATTERN, RESOURCE_BYTES_AT_MOST, Content, ResourceRow, is_id, raise_if_too_large
from app.resource.schemas import KEY_REASON, ObjectTypeSchema
from app.values.json_fields import (
    NUMBER_EXPECTED,
    STRING_EXPECTED,
    NestedObject,
    ReadOnly,
    StrictField,
    StrictSchema,
    Text,
    Timestamp,
    check_text,
    faults_of,
    integer_check,
    refuse_value,
)
from app.values.patterns import CLIENT_ID_AT_MOST
from app.values.strict_json import InvalidJson, decode, encode

LINES_AT_ONCE = 500
"""The most lines of one step, which are inserted in one transaction. An interruption loses at most one step. A step may
also end earlier, at the most bytes of a batch."""

VERSION_AT_MOST = 2**53 - 1
"""The largest version that is imported. Every client can send such a version back, because doubles represent it
exactly, and the resource can still be written some 10^18 times."""

LONGEST_LINE = 6 * RESOURCE_BYTES_AT_MOST + 64 * 1024
"""The most bytes of a line. A longer line is refused without decoding it. The factor is 6, because JSON needs at most
six bytes for one byte of a text."""


# Export


def export_lines(connection: Connection, project_key: str) -> Generator[str]:
    """Yield the resources of a project, ordered by id, each as a line without a line end. :func:`last_line` has to
    follow."""
    for stored in bulk_store.export(connection, project_key, limited=False):
        yield _line(stored)


_EXPORTED = "exportedResources"
"""The name of the only member of an export's last line."""


def last_line(resources: int) -> str:
    """The last line of an export. It contains the number of exported resources."""
    return encode({_EXPORTED: resources})


def _line(stored: ResourceRow) -> str:
    members = [
        f'"id":"{stored.id}"',
        f'"version":{stored.version}',
        *([] if stored.key is None else [f'"key":"{stored.key}"']),
        f'"createdAt":"{stored.created_at}"',
        f'"lastModifiedAt":"{stored.last_modified_at}"',
        f'"createdBy":{_reference(stored.created_by)}',
        f'"lastModifiedBy":{_reference(stored.last_modified_by)}',
        *_projection(stored.object_type, stored.some_property),
    ]
    if stored.staged_object_type is not None:
        staged = ",".join(_projection(stored.staged_object_type, stored.staged_some_property))
        members.append(f'"staged":{{{staged}}}')
    return "{" + ",".join(members) + "}"


def _reference(client_id: str) -> str:
    return encode({"typeId": "api-client", "id": client_id})


def _projection(object_type: str, some_property: str | None) -> list[str]:
    members = [f'"objectTypeProperty":{object_type}']
    if some_property is not None:
        members.append(f'"someProperty":{encode(some_property)}')
    return members


# Import


def _check_id(value: Any) -> UUID:
    text = check_text(value)
    if not is_id(text):
        refuse_value(text, "A UUID is expected.")
    return UUID(text)


class _ProjectionSchema(StrictSchema):
    object_type = NestedObject(ObjectTypeSchema, required=True, data_key="objectTypeProperty")
    some_property = Text(data_key="someProperty")

    def make(self, data: dict[str, Any]) -> Any:
        return Content(data["object_type"], data.get("some_property"))


class _ReferenceSchema(StrictSchema):
    typeId = Text(required=True, pattern="api-client", reason="api-client is expected.")  # noqa: N815 -- the API's name
    id = Text(
        required=True,
        pattern=rf"[\s\S]{{1,{CLIENT_ID_AT_MOST}}}",
        reason=f"1 to {CLIENT_ID_AT_MOST} characters are expected.",
    )


class _LineSchema(_ProjectionSchema):
    """The schema of a line of an export. Only ``objectTypeProperty`` is required."""

    id = StrictField(_check_id, STRING_EXPECTED)
    version = StrictField(integer_check(1, VERSION_AT_MOST, "int64"), NUMBER_EXPECTED)
    key = Text(pattern=KEY_PATTERN, reason=KEY_REASON)
    created_at = Timestamp(data_key="createdAt")
    last_modified_at = Timestamp(data_key="lastModifiedAt")
    created_by = NestedObject(_ReferenceSchema, data_key="createdBy")
    last_modified_by = NestedObject(_ReferenceSchema, data_key="lastModifiedBy")
    unnamed = ReadOnly()
    """Exports of 0.2.0 may have this member, which has no meaning any more."""
    staged = NestedObject(_ProjectionSchema)

    def make(self, data: dict[str, Any]) -> dict[str, Any]:
        return data


LINE_SCHEMA = _LineSchema()
"""The schema of one line of an export."""


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """The number of a line that was not imported, and the reason."""

    number: int
    reason: str


@dataclass(slots=True)
class ImportProgress:
    """How many lines an import has handled so far, by their outcome. Blank lines are not counted."""

    read: int = 0
    imported: int = 0
    present: int = 0
    """The number of lines that were skipped because their id already exists."""
    refused: int = 0
    newly_refused: list[RefusedLine] = field(default_factory=list[RefusedLine])
    """The refused lines of the last step only."""
    since_count: int = 0
    """The number of lines since the last line of an export, which has a count, or since the beginning."""
    is_cut: bool = False
    """Whether the latest line is one of an export, but not the last of it."""


def import_lines(
    connection: Connection, project_key: str, lines: Iterable[bytes], client_id: str
) -> Generator[ImportProgress]:
    """Import lines, each checked as the API checks a body, and yield the progress after each step, in one object.

    A step is a transaction of at most :data:`LINES_AT_ONCE` lines and the bytes of one batch
    (:func:`app.resource.bulk_store.batches`). So after an interruption all lines of a step are imported, or none.

    :param client_id: the author of resources whose lines do not name one.
    """
    progress = ImportProgress()
    numbered = enumerate(lines, start=1)
    now = datetime.now(UTC)
    for step in bulk_store.batches(numbered, lambda line: len(line[1]), LINES_AT_ONCE):
        progress.newly_refused.clear()
        _import_step(connection, project_key, step, client_id, now, progress)
        yield progress


def _import_step(
    connection: Connection,
    project_key: str,
    step: list[tuple[int, bytes]],
    client_id: str,
    now: datetime,
    progress: ImportProgress,
) -> None:
    refused = progress.newly_refused
    wanted: dict[UUID, tuple[int, ResourceRow]] = {}
    for number, line in step:
        if not line.strip():
            continue
        counted = _count_of(line)
        progress.is_cut = _EXPORTED_LINE.match(line) is not None
        if counted is not None:
            if counted != progress.since_count:
                progress.read += 1
                reason = f"The export had {counted} resources, and {progress.since_count} lines came before this one."
                refused.append(RefusedLine(number, reason))
            progress.since_count = 0
            continue
        progress.read += 1
        progress.since_count += 1
        try:
            resource = _read(number, line, client_id, now)
        except _LineRefused as refusal:
            refused.append(RefusedLine(number, str(refusal)))
            continue
        if resource.id in wanted:
            progress.present += 1
        else:
            wanted[resource.id] = (number, resource)
    resources = [resource for _, resource in wanted.values()]
    with unlimited(connection):
        inserted = bulk_store.insert_many(connection, project_key, resources)
        missing = [resource.id for resource in resources if resource.id not in inserted]
        existing = bulk_store.existing_ids(connection, project_key, missing) if missing else set[UUID]()
    for resource_id in missing:
        number, resource = wanted[resource_id]
        if resource_id in existing:
            progress.present += 1
        else:
            refused.append(RefusedLine(number, _conflict_of(resource)))
    progress.imported += len(inserted)
    progress.refused += len(refused)
    refused.sort(key=lambda line: line.number)


_EXPORTED_LINE = re.compile(rb'\{"id":"[0-9a-f-]{36}","version":[0-9]')
"""The beginning of the lines of an export, but for the last."""

_COUNT = re.compile(rb'\s*\{\s*"%b"\s*:\s*(\d{1,18})\s*\}\s*' % _EXPORTED.encode())


def _count_of(line: bytes) -> int | None:
    """The number in the last line of an export; None for any other line."""
    match = _COUNT.fullmatch(line)
    return None if match is None else int(match.group(1))


def lines_of(source: BinaryIO) -> Generator[bytes]:
    """The lines of a file. Only the beginning of a line above :data:`LONGEST_LINE` is read into memory."""
    while line := source.readline(LONGEST_LINE + 1):
        yield line
        while line and not line.endswith(b"\n"):  # skip the rest of a line that is too long
            line = source.readline(64 * 1024)


def _conflict_of(resource: ResourceRow) -> str:
    """The reason why a resource was not inserted although its id is free."""
    if resource.key is not None:
        return str(errors.duplicate_field("key", resource.key))
    return "A resource with its id was created and deleted by others meanwhile."


class _LineRefused(Exception):
    """The error for a line that is not imported. The message says why."""


def _read(number: int, line: bytes, client_id: str, now: datetime) -> ResourceRow:
    if len(line) > LONGEST_LINE:
        raise _LineRefused(f"The line has more than {LONGEST_LINE} bytes.")
    try:
        data: dict[str, Any] = LINE_SCHEMA.load(decode(line.strip()))
    except InvalidJson as error:
        raise _LineRefused(str(error)) from None
    except ValidationError as error:
        reasons = [fault.extra.get("detailedErrorMessage", fault.message) for fault in faults_of(error.messages)]
        raise _LineRefused("; ".join(reasons)) from None
    modified: datetime | None = data.get("last_modified_at")
    created: datetime = data.get("created_at", min(now, modified or now))
    created_at = created.isoformat(timespec="milliseconds")
    last_modified_at = (modified or created).isoformat(timespec="milliseconds")
    if last_modified_at < created_at:
        raise _LineRefused("lastModifiedAt is before createdAt.")
    current = Content(data["object_type"], data.get("some_property"))
    staged: Content | None = data.get("staged")
    try:
        raise_if_too_large(current, staged or current)
    except errors.ApiError as error:
        raise _LineRefused(str(error)) from None
    if staged == current:
        staged = None
    author: str = data.get("created_by", {}).get("id", client_id)
    return ResourceRow(
        id=data.get("id") or _derived_id(number, line, data.get("created_at", _EPOCH)),
        version=data.get("version", 1),
        key=data.get("key"),
        created_at=created_at,
        last_modified_at=last_modified_at,
        created_by=author,
        last_modified_by=data.get("last_modified_by", {}).get("id", author),
        object_type=current.object_type.text,
        some_property=current.some_property,
        staged_object_type=None if staged is None else staged.object_type.text,
        staged_some_property=None if staged is None else staged.some_property,
    )


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _derived_id(number: int, line: bytes, created: datetime) -> UUID:
    """A UUIDv8 (RFC 9562, section 5.8) made of a line's text and number, so that a repeated import makes it again.

    It begins with the milliseconds since 1970, like the UUIDv7 of other resources, so that the greatest id is the
    youngest.
    """
    milliseconds = max(0, (created - _EPOCH) // timedelta(milliseconds=1))
    digest = int.from_bytes(sha256(b"%d\n%s" % (number, line.strip())).digest()[:10])
    return UUID(int=milliseconds << 80 | digest & ~(0xF << 76) & ~(0b11 << 62) | 0x8 << 76 | 0b10 << 62)
