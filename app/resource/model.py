"""What travels between the layers: frozen values that say how far data has come. No logic beyond their own."""

import re
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

from app.query.fields import Field, Stage
from app.query.filters.ast import Facet, Filter
from app.query.predicate.ast import Condition
from app.values.strict_json import INT64_MAX

OBJECT_TYPE_FIELDS = (
    "arrayOfIntExample",
    "arrayOfUniqueIntExample",
    "arrayOfTwonumbersExample",
    "arrayOfFloatExample",
    "arrayOfNumberNoDefaultsExample",
    "arrayOfStringExample",
    "arrayOfObjectType",
)
"""The fields of ObjectType (interface 2.3), in the order in which they are written."""


@dataclass(frozen=True, slots=True)
class ObjectType:
    """A checked ObjectType.

    :param text: canonical JSON: the fields that are there, in the order above.
    :param searched: the texts in it that a search looks at, those of ``arrayOfStringExample``.
    """

    text: str
    searched: tuple[str, ...] = ()


# Versions and preconditions


@dataclass(frozen=True, slots=True)
class ExpectedVersion:
    """The version that a client expects, as it sent it: any JSON number, of which only some can be a version."""

    sent: int | float

    @property
    def comparable(self) -> int:
        """The version to compare with; one that no resource has, for a number that no version can be."""
        if self.sent == int(self.sent) and 1 <= self.sent <= INT64_MAX:
            return int(self.sent)
        return -1


class AnyVersion(Enum):
    """The ``*`` of If-Match and If-None-Match."""

    ANY = "*"


EntityTags = frozenset[int] | AnyVersion
"""The versions that a conditional header lists; tags that no version can have are left out."""


@dataclass(frozen=True, slots=True)
class Preconditions:
    """If-Match, If-None-Match and the body's or query's version: all must hold for a write to happen."""

    if_match: EntityTags | None = None
    if_none_match: EntityTags | None = None
    expected: ExpectedVersion | None = None

    @property
    def allows_creation(self) -> bool:
        """If-Match asks for something that is there already."""
        return self.if_match is None


# Targets of a write


_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)


def is_id(text: str) -> bool:
    """Whether a resource can have this id: a UUID in its usual form, in any letter case."""
    return _UUID.fullmatch(text) is not None


def canonical_id(text: str) -> str | None:
    """An id as answers spell it; None for any other text, which no resource has."""
    return text.lower() if is_id(text) else None


KEY_PATTERN = "[A-Za-z0-9_-]{2,256}"
_KEY = re.compile(KEY_PATTERN)


def is_key(text: str) -> bool:
    """Whether a resource can have this key."""
    return _KEY.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class ById:
    """The resource with this id, in its canonical form."""

    id: str


@dataclass(frozen=True, slots=True)
class ByKey:
    """The resource with this key."""

    key: str


@dataclass(frozen=True, slots=True)
class Sole:
    """The only resource of the project."""


Target = ById | ByKey | Sole
"""Which resource a write means."""


# What a write makes of the stored columns. The values are symbolic, so that one statement can carry out any change
# without reading the resource first.


class Stored(Enum):
    """The value that a column has before the write."""

    CURRENT_OBJECT = "current_object"
    CURRENT_SOME = "current_some"
    STAGED_OBJECT = "staged_object"
    STAGED_SOME = "staged_some"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class Value:
    """A new text.

    :param searched: what a search looks at in it.
    """

    text: str
    searched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Merged:
    """An ObjectType whose sent fields replace those of ``base``, the others staying."""

    base: Stored
    fields: ObjectType


Expression = Stored | Value | Merged


@dataclass(frozen=True, slots=True)
class Projection:
    """One of a resource's two halves: current or staged."""

    object_type: Expression
    some_property: Expression


@dataclass(frozen=True, slots=True)
class Change:
    """All that a write does to a resource; without arguments, nothing.

    :param touched: counts as a change even if every value stays as it was.
    """

    current: Projection = Projection(Stored.CURRENT_OBJECT, Stored.CURRENT_SOME)
    staged: Projection = Projection(Stored.STAGED_OBJECT, Stored.STAGED_SOME)
    key: Expression = Stored.KEY
    touched: bool = False


@dataclass(frozen=True, slots=True)
class NewResource:
    """A resource to be made; ``staged_only`` leaves its current ObjectType empty."""

    id: UUID
    key: str | None
    object_type: ObjectType
    staged_only: bool
    sole: bool


@dataclass(frozen=True, slots=True)
class Caller:
    """The API client of a request, in the project whose scopes it has shown."""

    project_key: str
    client_id: str


# Results


@dataclass(frozen=True, slots=True)
class Resource:
    """A stored resource as it is answered: its JSON text, and what headers need."""

    id: str
    version: int
    json: str


@dataclass(frozen=True, slots=True)
class StoredResource:
    """All that is kept of a resource: what bulk loading writes and an export reads.

    ``object_type`` and ``staged_object_type`` are canonical JSON; the latter is None if the projections are the same.
    """

    id: UUID
    version: int
    key: str | None
    created_at: str
    last_modified_at: str
    created_by: str
    last_modified_by: str
    object_type: str
    some_property: str | None
    staged_object_type: str | None
    staged_some_property: str | None


@dataclass(frozen=True, slots=True)
class Written:
    """A write that came about."""

    resource: Resource
    created: bool


class Refusal(Enum):
    """Why a write changed nothing."""

    NOT_FOUND = "not found"
    AMBIGUOUS = "more than one resource"
    PRECONDITION = "a precondition does not hold"
    RACE = "another write came between; the same write may be tried again"


@dataclass(frozen=True, slots=True)
class Refused:
    """A write that did not come about, and the resource that it met, if there is one."""

    reason: Refusal
    id: str | None = None
    version: int | None = None


# Reading


@dataclass(frozen=True, slots=True)
class SortTerm:
    """One ``sort`` parameter."""

    field: Field
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Paging:
    """Which part of the matching resources is answered."""

    limit: int = 20
    offset: int = 0
    with_total: bool = True
    sort: tuple[SortTerm, ...] = ()


@dataclass(frozen=True, slots=True)
class Containment:
    """Holds if the ObjectType contains at least one of these JSON texts, as jsonb's ``@>`` defines it."""

    any_of: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which resources are meant: all conditions hold."""

    containments: tuple[Containment, ...] = ()
    predicate: Condition | None = None


FUZZY_LEVEL_AT_MOST = 2
"""Edits at most between a word that is searched for and one that is found."""


def fuzzy_level_of(length: int) -> int:
    """The edits that a word of so many characters allows by default."""
    return 0 if length <= 2 else 1 if length <= 5 else FUZZY_LEVEL_AT_MOST


@dataclass(frozen=True, slots=True)
class Text:
    """Words that must all occur; ``language`` is as in ``text.<language>``."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Search:
    """What a search asks for (interface 4.4).

    :param fuzzy_level: edits at most between a word and what it finds; None: none.
    :param query_filters: narrow the results and what facets count.
    :param filters: narrow the results only.
    :param facet_filters: narrow what facets count, but for facets on their own field.
    """

    stage: Stage = Stage.CURRENT
    texts: tuple[Text, ...] = ()
    fuzzy_level: int | None = None
    query_filters: tuple[Filter, ...] = ()
    filters: tuple[Filter, ...] = ()
    facet_filters: tuple[Filter, ...] = ()
    facets: tuple[Facet, ...] = ()
    paging: Paging = Paging()
