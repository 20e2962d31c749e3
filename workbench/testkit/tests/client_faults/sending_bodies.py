"""Faults in bodies of JSON."""

from typing import Any

from client_faults.planting import around, bodies_changed, deep, deep_objects, numbers, planted, texts


def bmp_only(text: str) -> str:
    """A text without characters beyond the BMP."""
    return "".join(each for each in text if ord(each) <= 0xFFFF)


def scalars(change: Any) -> Any:
    return lambda adapter: bodies_changed(adapter, lambda body: deep(change, body))


def objects(change: Any) -> Any:
    return lambda adapter: bodies_changed(adapter, lambda body: deep_objects(change, body))


def object_types(change: Any) -> Any:
    """Change objectTypeProperty."""
    return objects(
        lambda value: (
            {**value, "objectTypeProperty": change(value["objectTypeProperty"])}
            if "objectTypeProperty" in value
            else value
        )
    )


# What is there and what is not


# Numbers


# Texts


# Arrays and objects


# Actions


# Of single operations, and values that few have


def left_out(name: str, of: str) -> Any:
    """Leave a member out of the bodies of an operation."""
    return lambda adapter: around(
        adapter,
        "content",
        lambda former, operation, body: former(
            operation, {each: value for each, value in body.items() if each != name} if operation == of else body
        ),
    )


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name not in names}


planted(
    ("C-req-73", "empty arrays are left out", objects(lambda value: {name: item for name, item in value.items() if item != [] or name == "actions"})),
    ("C-req-66 C-req-78 C-req-83", "0 and false are left out of objects",
     objects(lambda value: {name: item for name, item in value.items() if item is not False and item != 0})),
    ("C-req-74", "an empty ObjectType gets a field that is null", object_types(lambda value: value or {"arrayOfIntExample": None})),
    ("C-req-69", "fractions of bodies are rounded",
     scalars(numbers(lambda value: round(value, 6) if isinstance(value, float) and abs(value) > 1e-6 else value))),
    ("C-req-5", "the version is sent as a text",
     objects(lambda value: {**value, "version": str(value["version"])} if isinstance(value.get("version"), int) else value)),
    ("C-req-88", "small negative numbers of bodies are sent as 0", scalars(numbers(lambda value: 0 if -1e-8 < value < 0 else value))),
    ("C-req-71", "texts of bodies lose characters beyond the BMP", scalars(texts(bmp_only))),
    ("C-req-87", "long texts of bodies are cut off", scalars(texts(lambda value: value[:8000]))),
    ("C-req-1 C-req-4 C-req-5 C-req-8 C-req-13 C-req-14", "a body has another Content-Type",
     lambda adapter: around(adapter, "content", lambda former, operation, body: ((made := former(operation, body))[0], {"Content-Type": "text/plain"} if made[1].get("Content-Type") == "application/json" else made[1]))),
    ("C-req-76", "members of objects in arrays of bodies are made up",
     objects(lambda value: {name: [{"integerExample": 0, **item} for item in items] if name == "arrayOfObjectType" else items for name, items in value.items()})),
    ("C-req-79 C-req-81", "the second person is the first",
     objects(lambda value: {name: value["createdBy"] if name == "lastModifiedBy" and "createdBy" in value else item for name, item in value.items()})),
    ("C-req-84", "an empty list of actions is left out",
     objects(lambda value: {name: item for name, item in value.items() if name != "actions" or item})),
    ("C-req-86", "actions are sent in parts", objects(lambda value: {**value, "actions": value["actions"][:20]} if "actions" in value else value)),
    ("C-req-70", "very large numbers of bodies are cut off",
     scalars(numbers(lambda value: 1e300 if isinstance(value, float) and value > 1e300 else value))),
    ("C-req-75", "arrays of integers of bodies are sorted",
     objects(lambda value: {name: sorted(item) if name == "arrayOfIntExample" and item == [3, 1, 2, 3, 3] else item for name, item in value.items()})),
    ("C-req-80", "a first millisecond of bodies is lost", scalars(texts(lambda value: value.replace(".001Z", ".000Z")))),
    ("C-req-63", "the version is left out of a POST", left_out("version", "createOrUpdateResource")),
    ("C-req-64", "the version is left out of a PUT", left_out("version", "createOrOverwriteResource")),
    ("C-req-65", "the id is left out of a PATCH", left_out("id", "overwriteResource")),
    ("C-req-72 C-req-79", "empty texts are left out", objects(lambda value: {name: item for name, item in value.items() if item != ""})),
    ("C-req-77", "a field of the record is spelt as it should be",
     objects(lambda value: {"eleventhProperty" if name == "eleventhPropery" else name: item for name, item in value.items()})),
    ("C-req-62", "an array of an ObjectType is forgotten", object_types(lambda value: without(value, "arrayOfUniqueIntExample"))),
    ("C-req-67 C-req-68", "large integers of bodies are written as texts",
     scalars(numbers(lambda value: str(value) if isinstance(value, int) and abs(value) >= 2**53 else value))),
    ("C-req-82", "actions that look the same are sent once",
     objects(lambda value: ({**value, "actions": [each for place, each in enumerate(value["actions"]) if each not in value["actions"][:place]]} if "actions" in value else value))),
    ("C-req-68", "the largest integers of bodies are rounded",
     scalars(numbers(lambda value: int(float(value)) if isinstance(value, int) and abs(value) > 2**62 else value))),
)  # fmt: skip
