"""Generates resources for tests and demonstrations. Equal project, count and seed always give equal resources."""

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from random import Random
from typing import Any
from uuid import UUID

from app.query.object_fields import OBJECT_FIELDS, SEARCHED
from app.resource.model import ResourceRow
from app.resource.object_type import ObjectType

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
"""The time from which the ``createdAt`` of the resources is counted."""

GENERATED_WORDS = 20_000
"""The number of generated words, besides the real words."""

_REAL_WORDS = (  # noqa: SIM905 -- fifty words are easier to read as one text
    "dog cat bird horse fish red green blue yellow black white small large round square wooden metal glass cotton "
    "leather table chair lamp shelf sofa shirt shoes jacket trousers dress running walking swimming cooking reading "
    "garden kitchen office summer winter spring autumn classic modern vintage organic fresh dried sweet salted"
).split()

_SYLLABLES = tuple(
    f"{onset}{vowel}{coda}"
    for onset in ("b", "br", "d", "f", "g", "gr", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v", "z")
    for vowel in ("a", "e", "i", "o", "u")
    for coda in ("", "l", "n", "r", "s")
)


def _integers(random: Random, below: int, at_most: int) -> list[int]:
    """Draw 1 to ``at_most`` integers, each from 0 to less than ``below``."""
    return [random.randrange(below) for _ in range(random.randrange(1, at_most + 1))]


def _number(value: float, digits: int) -> int | float:
    """A rounded number: an int if it is whole, as the service stores it."""
    rounded = round(value, digits)
    return int(rounded) if rounded.is_integer() else rounded


ITEMS: Mapping[str, Callable[[Random], list[Any]]] = {
    "arrayOfIntExample": lambda random: _integers(random, 1000, 7),
    "arrayOfUniqueIntExample": lambda random: sorted(set(_integers(random, 10_000, 7))),
    "arrayOfTwonumbersExample": lambda random: [random.randrange(-90, 90), random.randrange(-180, 180)],
    "arrayOfFloatExample": lambda random: [_number(random.gauss(50, 20), 2)],
    "arrayOfNumberNoDefaultsExample": lambda random: [random.randrange(1_000_000), _number(random.random(), 3)],
    SEARCHED: lambda random: [_word(random) for _ in range(random.randrange(1, 5))],
    "arrayOfObjectType": lambda random: [
        {"integerExample": random.randrange(100_000), "integerExampleInt32": random.randrange(100)}
        for _ in range(random.randrange(3))
    ],
}
"""The random items of each field of ObjectType."""


def resources(project_key: str, count: int, seed: int) -> Iterator[ResourceRow]:
    """Generate resources, the oldest first, with one minute between them on average.

    Each field has its own random generator, so that a new field does not change the values of the others.
    """

    def stream(name: str) -> Random:
        """Make a random generator that depends only on the project, the seed and the name. Each field of ObjectType
        uses the generator with its own name. All other random values use the one with the name ``resource``."""
        return Random(f"{project_key}/{seed}/{name}")  # noqa: S311 -- for test data, not for secrets

    generators = {row.name: stream(row.name) for row in OBJECT_FIELDS}
    random = stream("resource")
    created = EPOCH
    for number in range(count):
        created += timedelta(milliseconds=random.randrange(1, 120_000))
        yield _resource(project_key, seed, number, created, random, generators)


@cache
def _vocabulary() -> list[str]:
    """The vocabulary, which is equal for every project and seed. It begins with the real words, because the first words
    are the most frequent."""
    random = Random("vocabulary")  # noqa: S311 -- for test data, not for secrets
    words: dict[str, None] = dict.fromkeys(_REAL_WORDS)
    while len(words) < len(_REAL_WORDS) + GENERATED_WORDS:
        words["".join(random.choices(_SYLLABLES, k=random.randrange(2, 5)))] = None
    return list(words)


def _word(random: Random) -> str:
    """A random word. Its rank is log-uniform, so that its frequency is nearly proportional to one over
    its rank (Zipf)."""
    words = _vocabulary()
    return words[int(math.exp(random.random() * math.log(len(words) + 1))) - 1]


def _resource(
    project_key: str, seed: int, number: int, created: datetime, random: Random, generators: Mapping[str, Random]
) -> ResourceRow:
    """The resource with this number, made of the generators' next values. 10 % have no key, 30 % have someProperty, and
    5 % have staged changes."""
    object_type = _object_type(generators)
    some_property = " ".join(_word(random) for _ in range(4)) if random.random() < 0.3 else None
    staged = _object_type(generators) if random.random() < 0.05 else None
    # As if one update had set someProperty, and another the staged ObjectType.
    version = 1 + (some_property is not None) + (staged is not None)
    modified = created + timedelta(minutes=random.randrange(1, 10_000)) if version > 1 else created
    return ResourceRow(
        id=_id(project_key, seed, number, created),
        version=version,
        key=f"seed-{seed}-{number}" if random.random() < 0.9 else None,
        created_at=created.isoformat(timespec="milliseconds"),
        last_modified_at=modified.isoformat(timespec="milliseconds"),
        created_by="seed",
        last_modified_by="seed",
        object_type=object_type.text,
        some_property=some_property,
        staged_object_type=None if staged is None else staged.text,
        staged_some_property=None if staged is None else some_property,
    )


def _object_type(generators: Mapping[str, Random]) -> ObjectType:
    """A random ObjectType. Each field is missing with a probability of 10 %."""
    return ObjectType.of(
        {
            row.name: ITEMS[row.name](generators[row.name])
            for row in OBJECT_FIELDS
            if generators[row.name].random() < 0.9
        }
    )


def _id(project_key: str, seed: int, number: int, created: datetime) -> UUID:
    """A UUIDv7 (RFC 9562, section 5.7) whose random bits are a hash of the project, the seed and the number."""
    digest = int.from_bytes(sha256(f"{project_key}/{seed}/{number}".encode()).digest()[:10])
    milliseconds = (created - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    high = (milliseconds << 16) | 0x7000 | ((digest >> 62) & 0xFFF)  # the time, the version, 12 bits of the hash
    low = (0b10 << 62) | (digest & ((1 << 62) - 1))  # the variant, 62 bits of the hash
    return UUID(int=(high << 64) | low)
