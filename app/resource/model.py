"""The frozen values that the modules of this package exchange. The type of a value says what has been checked."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from app import errors
from app.clock_and_ids import REAL_CLOCK_AND_IDS, ClockAndIds
from app.query.fields import Field, Projection
from app.query.filters.resolver import Facet, Filter
from app.resource.object_type import OBJECT_TYPE_BYTES_AT_MOST, ObjectType
from app.values.patterns import UUID_PATTERN

# A resource

WRAPPER = "objectTypeProperty"
"""The name of the field that contains an ObjectType in a body."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of one projection, current or staged."""

    object_type: ObjectType
    some_property: str | None = None


def raise_if_too_large(current: Content, staged: Content) -> None:
    """Check the size of the ObjectTypes of both projections.

    :raises ApiError: 400 if one has more bytes than :data:`OBJECT_TYPE_BYTES_AT_MOST`.
    """
    for content in (current, staged):
        size = content.object_type.size
        if size > OBJECT_TYPE_BYTES_AT_MOST:
            raise errors.ApiError([errors.size_fault(WRAPPER, size, OBJECT_TYPE_BYTES_AT_MOST)])


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource as it is stored, or as a write leaves it."""

    id: UUID
    version: int
    key: str | None
    created_at: datetime
    last_modified_at: datetime
    created_by: str
    last_modified_by: str
    current: Content
    staged: Content

    def with_content(self, change: Callable[[Content], Content], *, staged_only: bool = False) -> "Resource":
        """This resource with ``change`` applied to both projections, or only to the staged one.

        If both projections are the same Python object and ``staged_only`` is False, ``change`` is called only once, and
        its result becomes both projections. This saves a second merge of ObjectTypes. Later the write compares the
        projections, to find staged changes; if they are the same object, it compares no texts.
        """
        staged = change(self.staged)
        if staged_only:
            return replace(self, staged=staged)
        is_one_object = self.current is self.staged
        return replace(self, current=staged if is_one_object else change(self.current), staged=staged)


@dataclass(frozen=True, slots=True)
class NewResource:
    """A resource to be created, before its write gives it an id and times.

    :param created_as_only: whether it is created because its client has no resource without a key. Of several
        concurrent writes that do so, only one creates a resource, and the others then change it.
    """

    key: str | None
    current: Content
    staged: Content
    last_modified_by: str
    created_as_only: bool = False
    version: int = 1

    def created(self, resource_id: UUID, at: datetime) -> Resource:
        """The created resource, with its id and the time of its write."""
        author = self.last_modified_by
        return Resource(resource_id, self.version, self.key, at, at, author, author, self.current, self.staged)


# Versions and preconditions


EntityTags = frozenset[int] | Literal["*"]
"""The versions that If-Match or If-None-Match lists, or ``*`` for every version. Entity tags that no version can match
are left out."""


@dataclass(frozen=True, slots=True)
class Preconditions:
    """If-Match, If-None-Match and the version of the body or the query; None if the request does not have it.

    A resource is changed or deleted only if all three hold. A creation is refused if there is an If-Match, and ignores
    the other two.

    :param has_unusable_tags: whether If-Match lists tags that no version has, such as weak ones.
    :param expected: the version that the client expects: any number, even one that no resource can have.
    """

    if_match: EntityTags | None = None
    has_unusable_tags: bool = False
    if_none_match: EntityTags | None = None
    expected: int | float | None = None

    def expecting(self, version: int | float | None) -> "Preconditions":
        """These preconditions with an expected version; unchanged if ``version`` is None."""
        return self if version is None else replace(self, expected=version)


# Targets of a write


_UUID = re.compile(UUID_PATTERN, re.IGNORECASE | re.ASCII)


def is_id(text: str) -> bool:
    """Whether a text can be the id of a resource: a UUID in its usual form, in any letter case."""
    return _UUID.fullmatch(text) is not None


def canonical_id(text: str) -> str | None:
    """The id in lower case, as answers write it; None for a text that is no UUID."""
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
class OwnYoungest:
    """The resource with the greatest id, and so the youngest, of those without a key that an API client has created.

    :param created_by: the id of the client.
    """

    created_by: str


Target = ById | ByKey | OwnYoungest
"""The resource that a write applies to."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The API client that sent a request, and the project for which its token has a scope.

    :param clock_and_ids: the source of times and ids for its writes.
    """

    project_key: str
    client_id: str
    clock_and_ids: ClockAndIds = REAL_CLOCK_AND_IDS


# Results


@dataclass(frozen=True, slots=True)
class Representation:
    """A resource for an answer: its JSON text, and the id and version for the headers."""

    id: str
    version: int
    json: str


@dataclass(frozen=True, slots=True)
class ResourceRow:
    """The columns of a resource that bulk loading stores.

    ``object_type`` and ``staged_object_type`` are canonical JSON. If the projections are equal, ``staged_object_type``
    and ``staged_some_property`` are None.
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
    """A resource after a write that succeeded, even if it changed nothing."""

    resource: Resource
    is_new: bool = False


# Reading


@dataclass(frozen=True, slots=True)
class SortTerm:
    """One ``sort`` parameter."""

    field: Field
    descending: bool = False


DEFAULT_LIMIT = 20
"""The number of results of a page if ``limit`` is not given."""

TOTAL_AT_MOST = 10_000
"""The most matches that are counted. If there are more, ``total`` is this number and ``totalCapped`` is true."""

FACET_TERMS_AT_MOST = 200
"""The most terms that a facet lists; ``other`` is the sum of the counts of the remaining ones."""

FACET_BYTES_AT_MOST = 4 * 1024 * 1024
"""The most bytes that the text terms of all facets of a search may have together, before JSON escapes them. Each facet
may use an equal part of them."""


@dataclass(frozen=True, slots=True)
class Paging:
    """Which of the matching resources a page contains, and in which order."""

    limit: int = DEFAULT_LIMIT
    offset: int = 0
    with_total: bool = True
    sort: tuple[SortTerm, ...] = ()


FUZZY_LEVEL_AT_MOST = 2
"""The largest Damerau-Levenshtein distance between a word of a search and a word that it finds by its spelling."""


@dataclass(frozen=True, slots=True)
class SearchText:
    """A text of a search. A resource matches if it has all of its words that are not stop words, or words with the
    same stem, or words of a similar spelling.

    :param parameter: the name of the parameter, such as ``text.en``. It may have another character in place of the dot,
        because the interface gives the name as a pattern.
    """

    parameter: str
    text: str

    @property
    def language(self) -> str:
        """A language tag, for example ``en`` or ``en-GB``."""
        return self.parameter[len("text.") :]


@dataclass(frozen=True, slots=True)
class Search:
    """The parameters of a search (interface 4.4).

    :param fuzzy_level: the largest Damerau-Levenshtein distance at which words match. Words with the same stem match at
        any distance; if it is 0, only these match.
    :param query_filters: narrow the results and the counts of facets.
    :param filters: narrow the results only.
    :param facet_filters: narrow the counts of facets only; a filter does not narrow a facet on its own field.
    """

    projection: Projection = Projection.CURRENT
    texts: tuple[SearchText, ...] = ()
    fuzzy_level: int = 0
    query_filters: tuple[Filter, ...] = ()
    filters: tuple[Filter, ...] = ()
    facet_filters: tuple[Filter, ...] = ()
    facets: tuple[Facet, ...] = ()
    paging: Paging = Paging()
