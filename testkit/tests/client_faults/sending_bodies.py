"""Faults in bodies of JSON."""

import json
from typing import Any

from client_faults.planting import around, bodies_changed, deep, deep_arrays, deep_objects, fault, numbers, texts
from client_faults.sending_values import bmp_only


def scalars(change: Any) -> Any:
    return lambda adapter: bodies_changed(adapter, lambda body: deep(change, body))


def objects(change: Any) -> Any:
    return lambda adapter: bodies_changed(adapter, lambda body: deep_objects(change, body))


def arrays(change: Any) -> Any:
    return lambda adapter: bodies_changed(adapter, lambda body: deep_arrays(change, body))


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name not in names}


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
fault("empty texts are left out", "C-req-72 C-req-79")(
    objects(lambda value: {name: item for name, item in value.items() if item != ""})
)
fault("empty objects are left out", "C-req-79")(
    objects(lambda value: {name: item for name, item in value.items() if item != {} or name == "objectTypeProperty"})
)
fault("0 and false are left out of objects", "C-req-66 C-req-78 C-req-83")(
    objects(lambda value: {name: item for name, item in value.items() if item is not False and item != 0})
)
fault("the id is left out of bodies", "C-req-63..65 C-err-3 C-do-53")(
    objects(lambda value: without(value, "id") if "objectTypeProperty" in value else value)
)
fault("a field of the record is spelt as it should be", "C-req-77 C-ans-25..31")(
    objects(
        lambda value: {"eleventhProperty" if name == "eleventhPropery" else name: item for name, item in value.items()}
    )
)
fault("an empty ObjectType gets a field that is null", "C-req-74 C-err-3 C-do-20 C-do-32 C-do-53")(
    object_types(lambda value: value or {"arrayOfIntExample": None})
)
fault("an array of an ObjectType is forgotten", "C-req-62")(
    object_types(lambda value: without(value, "arrayOfUniqueIntExample"))
)

# Numbers

fault("integers of bodies are cut to 32 bits", "C-req-66 C-req-67 C-req-85")(
    scalars(numbers(lambda value: (value + 2**31) % 2**32 - 2**31 if isinstance(value, int) else value))
)
fault("large integers of bodies are written as texts", "C-req-67")(
    scalars(numbers(lambda value: str(value) if isinstance(value, int) and abs(value) >= 2**53 else value))
)
fault("fractions of bodies are rounded", "C-req-69")(
    scalars(numbers(lambda value: round(value, 6) if isinstance(value, float) and abs(value) > 1e-6 else value))
)
fault("numbers of bodies are written with twelve digits", "C-req-69 C-req-70")(
    scalars(numbers(lambda value: float(f"{value:.12g}") if isinstance(value, float) else value))
)
fault("the version is sent as a text", "C-req-5 C-req-8 C-req-63 C-req-64")(
    objects(
        lambda value: {**value, "version": str(value["version"])} if isinstance(value.get("version"), int) else value
    )
)
fault("numbers of bodies lose their sign", "C-req-62 C-req-66 C-req-68 C-req-69")(scalars(numbers(abs)))

fault("small negative numbers of bodies are sent as 0", "C-req-88")(
    scalars(numbers(lambda value: 0 if -1e-8 < value < 0 else value))
)

# Texts

fault("texts of bodies lose characters beyond the BMP", "C-req-71")(scalars(texts(bmp_only)))
fault("long texts of bodies are cut off", "C-req-87")(scalars(texts(lambda value: value[:8000])))
fault("a body is written in Latin-1", "C-req-71 C-ans-7")(
    lambda adapter: around(
        adapter,
        "content",
        lambda former, operation, body: (
            former(operation, body)
            if operation == "searchProductProjections" or body is None
            else (
                json.dumps(body, ensure_ascii=False).encode("latin-1", "replace"),
                {"Content-Type": "application/json"},
            )
        ),
    )
)
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
fault("milliseconds of bodies are lost", "C-req-77 C-req-80 C-req-93")(
    objects(
        lambda value: {
            name: item[:19] + "Z" if name in ("createdAt", "lastModifiedAt") else item for name, item in value.items()
        }
    )
)

# Arrays and objects

fault("long arrays of bodies are cut off", "C-req-87")(arrays(lambda value: value[:1000]))
fault("arrays of bodies lose their duplicates", "C-req-62 C-req-75 C-req-82")(
    arrays(lambda value: [item for place, item in enumerate(value) if len(value) > 600 or item not in value[:place]])
)
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
fault("fields of the record are sent as texts", "C-req-78")(
    objects(
        lambda value: (
            {**value, "custom": json.dumps(value["custom"])} if isinstance(value.get("custom"), dict) else value
        )
    )
)
fault("persons are sent as one text", "C-req-77 C-req-79 C-ans-25..31")(
    objects(
        lambda value: {
            name: " ".join(item.values()) if name in ("createdBy", "lastModifiedBy") else item
            for name, item in value.items()
        }
    )
)

# Actions

fault("staged of an action is always sent", "C-req-72 C-req-82 C-req-83")(
    objects(lambda value: {"staged": False, **value} if value.get("action") == "changeSomeProperty" else value)
)
fault("an empty list of actions is left out", "C-req-84 C-err-7")(
    objects(lambda value: {name: item for name, item in value.items() if name != "actions" or item})
)
fault("actions are sent in parts", "C-req-86")(
    objects(lambda value: {**value, "actions": value["actions"][:20]} if "actions" in value else value)
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
