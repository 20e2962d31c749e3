"""Faults in bodies of JSON."""

from typing import Any

from client_faults.planting import around, bodies_changed, deep, deep_objects, fault, numbers, texts


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

fault("empty arrays are left out", "C-req-73")(
    objects(lambda value: {name: item for name, item in value.items() if item != [] or name == "actions"})
)
fault("0 and false are left out of objects", "C-req-66 C-req-78 C-req-83")(
    objects(lambda value: {name: item for name, item in value.items() if item is not False and item != 0})
)
fault("an empty ObjectType gets a field that is null", "C-req-74")(
    object_types(lambda value: value or {"arrayOfIntExample": None})
)

# Numbers

fault("fractions of bodies are rounded", "C-req-69")(
    scalars(numbers(lambda value: round(value, 6) if isinstance(value, float) and abs(value) > 1e-6 else value))
)
fault("the version is sent as a text", "C-req-5")(
    objects(
        lambda value: {**value, "version": str(value["version"])} if isinstance(value.get("version"), int) else value
    )
)

fault("small negative numbers of bodies are sent as 0", "C-req-88")(
    scalars(numbers(lambda value: 0 if -1e-8 < value < 0 else value))
)

# Texts

fault("texts of bodies lose characters beyond the BMP", "C-req-71")(scalars(texts(bmp_only)))
fault("long texts of bodies are cut off", "C-req-87")(scalars(texts(lambda value: value[:8000])))
fault("a body has another Content-Type", "C-req-1 C-req-4 C-req-5 C-req-8 C-req-13 C-req-14")(
    lambda adapter: around(
        adapter,
        "content",
        lambda former, operation, body: (
            (made := former(operation, body))[0],
            {"Content-Type": "text/plain"} if made[1].get("Content-Type") == "application/json" else made[1],
        ),
    )
)

# Arrays and objects

fault("members of objects in arrays of bodies are made up", "C-req-76")(
    objects(
        lambda value: {
            name: [{"integerExample": 0, **item} for item in items] if name == "arrayOfObjectType" else items
            for name, items in value.items()
        }
    )
)
fault("the second person is the first", "C-req-79 C-req-81")(
    objects(
        lambda value: {
            name: value["createdBy"] if name == "lastModifiedBy" and "createdBy" in value else item
            for name, item in value.items()
        }
    )
)

# Actions

fault("an empty list of actions is left out", "C-req-84")(
    objects(lambda value: {name: item for name, item in value.items() if name != "actions" or item})
)
fault("actions are sent in parts", "C-req-86")(
    objects(lambda value: {**value, "actions": value["actions"][:20]} if "actions" in value else value)
)


# Of single operations, and values that few have

fault("very large numbers of bodies are cut off", "C-req-70")(
    scalars(numbers(lambda value: 1e300 if isinstance(value, float) and value > 1e300 else value))
)
fault("arrays of integers of bodies are sorted", "C-req-75")(
    objects(
        lambda value: {
            name: sorted(item) if name == "arrayOfIntExample" and item == [3, 1, 2, 3, 3] else item
            for name, item in value.items()
        }
    )
)
fault("a first millisecond of bodies is lost", "C-req-80")(
    scalars(texts(lambda value: value.replace(".001Z", ".000Z")))
)


def left_out(name: str, of: str) -> Any:
    """Leave a member out of the bodies of an operation."""
    return lambda adapter: around(
        adapter,
        "content",
        lambda former, operation, body: former(
            operation, {each: value for each, value in body.items() if each != name} if operation == of else body
        ),
    )


fault("the version is left out of a POST", "C-req-63")(left_out("version", "createOrUpdateResource"))
fault("the version is left out of a PUT", "C-req-64")(left_out("version", "createOrOverwriteResource"))
fault("the id is left out of a PATCH", "C-req-65")(left_out("id", "overwriteResource"))


fault("empty texts are left out", "C-req-72 C-req-79")(
    objects(lambda value: {name: item for name, item in value.items() if item != ""})
)


fault("a field of the record is spelt as it should be", "C-req-77")(
    objects(
        lambda value: {"eleventhProperty" if name == "eleventhPropery" else name: item for name, item in value.items()}
    )
)


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name not in names}


fault("an array of an ObjectType is forgotten", "C-req-62")(
    object_types(lambda value: without(value, "arrayOfUniqueIntExample"))
)


fault("large integers of bodies are written as texts", "C-req-67 C-req-68")(
    scalars(numbers(lambda value: str(value) if isinstance(value, int) and abs(value) >= 2**53 else value))
)


fault("actions that look the same are sent once", "C-req-82")(
    objects(
        lambda value: (
            {
                **value,
                "actions": [
                    each for place, each in enumerate(value["actions"]) if each not in value["actions"][:place]
                ],
            }
            if "actions" in value
            else value
        )
    )
)

fault("the largest integers of bodies are rounded", "C-req-68")(
    scalars(numbers(lambda value: int(float(value)) if isinstance(value, int) and abs(value) > 2**62 else value))
)
