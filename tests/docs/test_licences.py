"""``docs/licences.md`` lists what comes with the service; each licence permits what is done with a package."""

import re
from importlib.metadata import Distribution

from packaging.utils import NormalizedName, canonicalize_name

from tests.installation.environments import closure
from tests.support.licences import FOR_THE_SERVICE, FOR_TOOLS, is_allowed, licence_of
from tests.support.pages import ROOT, Page

PAGE = Page("docs/licences.md")


def listed_under(heading: str) -> dict[str, str]:
    """The packages under a heading, each with its licence."""
    return {canonicalize_name(name): licence for licence, names in PAGE.rows(heading) for name in names.split(", ")}


INSTALLED = listed_under("Installed with the service")

LOCKED = set(re.findall("^([a-z0-9-]+)==", (ROOT / "ops/image/all-in-one.txt").read_text(), re.MULTILINE))


def named(package: Distribution) -> NormalizedName:
    return canonicalize_name(package.metadata["Name"])


def stated(distribution: str, *extras: str) -> dict[NormalizedName, str]:
    """The packages that a distribution needs, each with the licence of its metadata."""
    return {named(package): licence_of(package) for package in closure(distribution, *extras)}


def test_the_page_lists_each_package_of_the_service_with_its_licence() -> None:
    assert set(INSTALLED) == LOCKED
    needed = stated("sample-resource", "embedded")
    assert {name: INSTALLED[name] for name in needed} == needed


def test_the_testkit_brings_one_package_more() -> None:
    further = {name: licence for name, licence in stated("sample-resource-testkit").items() if name not in INSTALLED}
    assert further == {"h11": "MIT"}


def test_every_licence_is_allowed() -> None:
    tools = stated("sample-resource", "dev") | stated("sample-resource-testkit", "pytest")
    for packages, allowed in ((INSTALLED, FOR_THE_SERVICE), (tools, FOR_TOOLS)):
        assert {name: licence for name, licence in packages.items() if not is_allowed(licence, allowed)} == {}
