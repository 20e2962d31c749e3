"""The two endpoints that only show what has arrived: 4.9 and 4.13."""

from typing import Any

from .refusals import Refused, as_json, bad_structure
from .resources import Json
from .values import INT64, BodyRules, milliseconds, written

UNTYPED = (
    "id",
    "version",
    "key",
    "custom",
    "eigthProperty",
    "ninthProperty",
    "tenthProperty",
    "eleventhPropery",
    "twelthProperty",
    "thirteenthProperty",
    "fourteenthProperty",
    "fifteenthProperty",
)

PERSONS = ("createdBy", "lastModifiedBy")

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


class Samples:
    """What these endpoints answer."""

    def __init__(self, rules: BodyRules) -> None:
        self.rules = rules

    def record(self, body: bytes) -> Json:
        """The body of a request (2.4)."""
        rules = self.rules
        person = rules.record({"firstName": rules.text, "lastName": rules.text})
        fields = {
            **dict.fromkeys(UNTYPED, rules.json),
            "createdAt": rules.moment,
            "lastModifiedAt": rules.moment,
            **dict.fromkeys(PERSONS, person),
        }
        return rules.checked(rules.record(fields), body)

    def echo(self, record: Json, *, texts: list[str], number: float | None) -> Json:
        """An ObjectType that holds all that arrived (4.9-2 to 4.9-5)."""
        untyped = [record[name] for name in UNTYPED if record.get(name) is not None]
        people = [record.get(person, {}).get(name) for person in PERSONS for name in ("firstName", "lastName")]
        numbers = [value for value in untyped if is_number(value)]
        integers = [int(value) for value in numbers if value == int(value) and INT64[0] <= value <= INT64[1]]
        found: dict[str, list[Any]] = {
            "arrayOfStringExample": [
                *texts,
                *(self.text(value) for value in untyped if not is_number(value)),
                *(name for name in people if name is not None),
            ],
            "arrayOfNumberNoDefaultsExample": ([] if number is None else [number]) + numbers,
            "arrayOfFloatExample": [] if number is None else [number],
            "arrayOfIntExample": integers,
            "arrayOfUniqueIntExample": list(dict.fromkeys(integers)),
            "arrayOfTwonumbersExample": self.moments(record),
        }
        return {name: values for name, values in found.items() if values}

    def text(self, value: Any) -> str:
        """A text, or what is no text as JSON."""
        return value if isinstance(value, str) else as_json(value)

    def moments(self, record: Json) -> list[int]:
        """Both times in milliseconds, if both are there."""
        if "createdAt" not in record or "lastModifiedAt" not in record:
            return []
        return [int(milliseconds(record[name]) or 0) for name in ("createdAt", "lastModifiedAt")]

    def times(self, record: Json) -> Json:
        """The date/time record (2.5).

        :raises Refused: if the record has no time.
        """
        text = record.get("lastModifiedAt", record.get("createdAt"))
        if text is None:
            raise Refused(400, bad_structure(("lastModifiedAt",), "Missing required value"))
        whole = written(int(milliseconds(text) or 0))
        return {
            "dateOnlyExample": whole[:10],
            "timeOnlyExample": whole[11:19],
            "dateTimeOnlyExample": whole[:19],
            "dateTimeExample": whole,
            "dateTimeExampleDefaultFormat": whole,
            "dateTimeExampleRfc": self.rfc(int(milliseconds(text) or 0), whole),
        }

    def rfc(self, ms: int, whole: str) -> str:
        """A time as HTTP writes it."""
        weekday = WEEKDAYS[(ms // 86_400_000 + 3) % 7]
        return f"{weekday}, {whole[8:10]} {MONTHS[int(whole[5:7]) - 1]} {whole[:4]} {whole[11:19]} GMT"
