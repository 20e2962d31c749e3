"""Makes the report as an HTML page: one file without scripts, which can be saved and sent."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from app.extension import Extension
from app.pages.frame import SITE, header
from sample_resource_sandbox.analysis.report import INCOMPLETE

_STYLE = Markup(  # noqa: S704 -- files of these packages
    "\n".join(path.read_text("utf-8") for path in (SITE / "site.css", Path(__file__).with_name("report.css")))
)

_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

PAGE_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The ``Content-Security-Policy`` of the page. It loads nothing, and the hash allows its own style sheet."""

_TROUBLES = {
    "401": "401: the token was refused",
    "409": "409: the version was not the current one",
    "429": "429: too many requests",
    "503": "503: the service was not available",
    "lost": "the answer was lost",
}
_SHOWN = 5

_templates = Environment(loader=PackageLoader("sample_resource_sandbox.analysis", "."), autoescape=True)


def as_page(made: Mapping[str, Any], base_url: str, extension: Extension) -> str:
    """A report as an HTML page.

    :param base_url: the URL of the service, to which the header and the numbers of clauses link.
    """
    outcomes = ("recovered", "gaveUp", "madeWorse", "notJudged")
    return _templates.get_template("report.html").render(
        made=made,
        base_url=base_url,
        title=f"Report on {made.get('run') or made['projectKey']}",
        style=_STYLE,
        header=header(base_url, None, extension),
        failed=sum(each[name] for each in made["recovery"].values() for name in outcomes),
        incomplete=INCOMPLETE,
        troubles=_TROUBLES,
        places=_places,
        cut=_cut,
    )


def _places(examples: Sequence[Mapping[str, Any]]) -> str:
    return _cut([f"{each['projectKey']}: {each['request']}" for each in examples])


def _cut(shown: Sequence[Any]) -> str:
    return ", ".join(map(str, shown[:_SHOWN])) + (", ..." if len(shown) > _SHOWN else "")
