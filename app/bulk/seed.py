"""Generated resources for tests and demonstrations; the same project, count and seed always give the same ones."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from random import Random
from typing import Any
from uuid import UUID

from app.resource.model import StoredResource
from app.values.strict_json import encode

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
"""Shortly before the first resource's ``createdAt``."""

VOCABULARY_SIZE = 20_000
"""Generated words in addition to the real ones; their frequencies are distributed as in a language."""

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


def resources(project_key: str, count: int, seed: int) -> Iterator[StoredResource]:
    """Generate resources, oldest first, with one minute between them on average."""
    random = Random(f"{project_key}/{seed}")  # noqa: S311 -- for test data, not for secrets
    words = _vocabulary()
    created = EPOCH
    for number in range(count):
        created += timedelta(milliseconds=random.randrange(1, 120_000))
        yield _resource(project_key, seed, number, created, random, words)


@cache
def _vocabulary() -> list[str]:
    """The same words for every project and seed. Real ones come first, since the first are the most frequent."""
    random = Random("vocabulary")  # noqa: S311 -- for test data, not for secrets
    words: dict[str, None] = dict.fromkeys(_REAL_WORDS)
    while len(words) < len(_REAL_WORDS) + VOCABULARY_SIZE:
        words["".join(random.choices(_SYLLABLES, k=random.randrange(2, 5)))] = None
    return list(words)


def _word(random: Random, words: list[str]) -> str:
    """A random word whose rank is log-uniform, so that its frequency is proportional to one over its rank (Zipf)."""
    return words[int(math.exp(random.random() * math.log(len(words) + 1))) - 1]


def _resource(
    project_key: str, seed: int, number: int, created: datetime, random: Random, words: list[str]
) -> StoredResource:
    object_type = _object_type(random, words)
    some_property = " ".join(_word(random, words) for _ in range(4)) if random.random() < 0.3 else None
    staged, version = None, 1
    if some_property is not None:
        version += 1
    if random.random() < 0.05:
        staged = _object_type(random, words)
        version += 1
    modified = created + timedelta(minutes=random.randrange(1, 10_000)) if version > 1 else created
    return StoredResource(
        id=_id(project_key, seed, number, created),
        version=version,
        key=f"seed-{seed}-{number}" if random.random() < 0.9 else None,
        created_at=created.isoformat(timespec="milliseconds"),
        last_modified_at=modified.isoformat(timespec="milliseconds"),
        created_by="seed",
        last_modified_by="seed",
        object_type=encode(object_type),
        some_property=some_property,
        staged_object_type=None if staged is None else encode(staged),
        staged_some_property=None if staged is None else some_property,
    )


def _object_type(random: Random, words: list[str]) -> dict[str, Any]:
    integers = [random.randrange(1000) for _ in range(random.randrange(1, 8))]
    members: dict[str, Any] = {
        "arrayOfIntExample": integers,
        "arrayOfUniqueIntExample": sorted({integer * 7 % 10_000 for integer in integers}),
        "arrayOfTwonumbersExample": [random.randrange(-90, 90), random.randrange(-180, 180)],
        "arrayOfFloatExample": [_number(random.gauss(50, 20), 2)],
        "arrayOfNumberNoDefaultsExample": [random.randrange(1_000_000), _number(random.random(), 3)],
        "arrayOfStringExample": [_word(random, words) for _ in range(random.randrange(1, 5))],
        "arrayOfObjectType": [
            {"integerExample": random.randrange(100_000), "integerExampleInt32": random.randrange(100)}
            for _ in range(random.randrange(0, 3))
        ],
    }
    return {name: value for name, value in members.items() if random.random() < 0.9}


def _number(value: float, digits: int) -> int | float:
    """A rounded number as the service stores it: an integer if it is whole."""
    rounded = round(value, digits)
    return int(rounded) if rounded.is_integer() else rounded


def _id(project_key: str, seed: int, number: int, created: datetime) -> UUID:
    """A UUIDv7 (RFC 9562, section 5.7) whose random bits are a hash of the project, the seed and the number."""
    digest = int.from_bytes(sha256(f"{project_key}/{seed}/{number}".encode()).digest()[:10])
    milliseconds = (created - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    high = milliseconds << 16 | 0x7000 | (digest >> 62) & 0xFFF
    low = 0b10 << 62 | digest & (1 << 62) - 1
    return UUID(int=high << 64 | low)
