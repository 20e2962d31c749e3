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


planted(
    ("C-req-73", "empty arrays are left out",
     objects(lambda value: {name: item for name, item in value.items() if item != [] or name == "actions"})),
    ("C-req-69 C-req-78 C-req-83", "0 and false are left out of objects",
     objects(lambda value: {name: item for name, item in value.items() if item is not False and item != 0})),
    ("C-req-74", "an empty ObjectType gets a field that is null",
     object_types(lambda value: value or {"arrayOfIntExample": None})),
    ("C-req-88", "small negative numbers of bodies are sent as 0",
     scalars(numbers(lambda value: 0 if -1e-8 < value < 0 else value))),
    ("C-req-71", "texts of bodies lose characters beyond the BMP",
     scalars(texts(bmp_only))),
    ("C-req-1 C-req-4 C-req-5 C-req-8 C-req-13 C-req-14", "a body has another Content-Type",
     lambda adapter: around(adapter, "content", lambda former, operation, body: ((made := former(operation, body))[0], {"Content-Type": "text/plain"} if made[1].get("Content-Type") == "application/json" else made[1]))),
    ("C-req-76", "members of objects in arrays of bodies are made up",
     objects(lambda value: {name: [{"integerExample": 0, **item} for item in items] if name == "arrayOfObjectType" else items for name, items in value.items()})),
    ("C-req-82", "an empty list of actions is left out",
     objects(lambda value: {name: item for name, item in value.items() if name != "actions" or item})),
    ("C-req-80", "a first millisecond of bodies is lost",
     scalars(texts(lambda value: value.replace(".001Z", ".000Z")))),
    ("C-req-63", "the version is left out of a POST",
     left_out("version", "createOrUpdateResource")),
    ("C-req-72 C-req-77", "empty texts are left out",
     objects(lambda value: {name: item for name, item in value.items() if item != ""})),
    ("C-req-62 C-req-67 C-req-69", "numbers of bodies lose their sign",
     scalars(numbers(abs))),
)  # fmt: skip
