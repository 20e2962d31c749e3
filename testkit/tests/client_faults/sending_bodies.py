"""Faults in bodies of JSON."""

from typing import Any

from client_faults.planting import bodies_changed, deep, deep_arrays, deep_objects, fault, numbers, texts


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
fault("the id is left out of bodies", "C-req-63..65 C-err-3 C-do-53")(
    objects(lambda value: without(value, "id") if "objectTypeProperty" in value else value)
)

# Numbers

fault("integers of bodies are cut to 32 bits", "C-req-66 C-req-67 C-req-85")(
    scalars(numbers(lambda value: (value + 2**31) % 2**32 - 2**31 if isinstance(value, int) else value))
)
fault("the version is sent as a text", "C-req-5 C-req-8 C-req-63 C-req-64")(
    objects(
        lambda value: {**value, "version": str(value["version"])} if isinstance(value.get("version"), int) else value
    )
)

# Texts

fault("long texts of bodies are cut off", "C-req-87")(scalars(texts(lambda value: value[:8000])))

# Arrays and objects

fault("long arrays of bodies are cut off", "C-req-87")(arrays(lambda value: value[:1000]))

# Actions

fault("staged of an action is always sent", "C-req-72 C-req-82 C-req-83")(
    objects(lambda value: {"staged": False, **value} if value.get("action") == "changeSomeProperty" else value)
)
