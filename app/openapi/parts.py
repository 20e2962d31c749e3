"""The parts of the OpenAPI document that are written by hand, in ``parts.json``, as they appear in the document.

- ``info``, without the description.
- ``tags``: the tag of each blueprint, in the order of the documentation page.
- ``serverOfRegion``: the server at the host of a region and a cloud provider, without its URL.
- ``pathParameters``: the variables of URL rules, by the names that the rules give them.
- ``requestHeaders``. Documentation pages send an example that is next to the schema, so a request with such an example
  must succeed. An example inside the schema is for readers only. Entity tags have a pattern and no enum, because for an
  enum the page shows a list, in which nobody can type ``"1"``.
- ``components``: among them the schemas of bodies that no marshmallow schema describes, because PostgreSQL or a view
  makes them, and links: operations whose parameters an answer contains.
- ``requestExamples``, by operation id or by the name of the schema, and ``answerExamples``, by the name of the schema.
  Resources lack their ObjectType and pages lack their results, which :mod:`app.openapi.examples` adds.
"""

import json
from pathlib import Path
from typing import Any

Document = dict[str, Any]

PARTS: Document = json.loads(Path(__file__).with_name("parts.json").read_text("utf-8"))
