"""Reads the licences of installed distributions from their metadata, and tells which of them the project can use."""

from functools import cache
from importlib.metadata import Distribution

from license_expression import get_spdx_licensing

FOR_THE_SERVICE = frozenset({
    "0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "ISC", "LGPL-3.0-only", "MIT", "MIT-0",
    "PSF-2.0", "ZPL-2.1",
})  # fmt: skip
"""Licences that let a program under the MIT licence import a library and be passed on with it.

LGPL-3.0 asks that its users can replace the library, which a Python package always can be.
"""

FOR_TOOLS = FOR_THE_SERVICE | {"MPL-2.0", "GPL-2.0-or-later", "GPL-3.0-only", "Public-Domain"}
"""Licences of programs that check and build the service, and are not passed on with it."""

_CLASSIFIERS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "GNU General Public License (GPL)": "GPL-3.0",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Public Domain": "Public-Domain",
    "Python Software Foundation License": "PSF-2.0",
}


def licence_of(package: Distribution) -> str:
    """The licence as an SPDX expression, or ``BSD`` if the metadata do not say which BSD licence.

    :raises KeyError: if the metadata name a licence that is not known here, or none.
    """
    metadata = package.metadata
    if "License-Expression" in metadata:
        return metadata["License-Expression"]
    classifiers = [line.split(" :: ") for line in metadata.get_all("Classifier") or []]
    named = [_CLASSIFIERS[parts[-1]] for parts in classifiers if parts[0] == "License" and len(parts) > 1]
    if named:
        # Several licences are alternatives. The one program with several is docutils, whose licence says so.
        return " OR ".join(sorted(named))
    (text, *_) = metadata.get_all("License") or [""]
    first_line = text.splitlines()[0].strip() if text else ""
    if first_line in FOR_TOOLS or first_line == "GPL-3.0":
        return first_line
    return _CLASSIFIERS[first_line]


_licensing = cache(get_spdx_licensing)
"""Returns the licences of SPDX, whose index takes a tenth of a second to make."""


def is_allowed(expression: str, allowed: frozenset[str]) -> bool:
    """Whether a licence expression permits the use under the allowed licences."""
    parsed = _licensing().parse(expression)
    if parsed is None:
        return False
    return _holds(parsed, allowed)


def _holds(node: object, allowed: frozenset[str]) -> bool:
    operator = str(getattr(node, "operator", "")).strip()
    parts = [_holds(part, allowed) for part in getattr(node, "args", ())]
    if operator == "OR":
        return any(parts)
    if operator == "AND":
        return all(parts)
    return str(node) in allowed
