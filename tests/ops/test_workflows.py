"""A release publishes nothing before every test has passed, and nothing without a tag."""

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = ROOT / ".github/workflows"


def read(name: str) -> dict[str, Any]:
    # YAML 1.1 reads the key `on` as true.
    loaded: dict[Any, Any] = yaml.safe_load((WORKFLOWS / name).read_text())
    return {"on": loaded.pop(True)} | loaded


RELEASE = read("release.yml")["jobs"]


def needed_by(job: str) -> set[str]:
    """The jobs that have to succeed before this one begins."""
    needs = RELEASE[job].get("needs", [])
    direct = {needs} if isinstance(needs, str) else set(needs)
    return direct.union(*map(needed_by, direct))


def commands(jobs: dict[str, Any]) -> set[str]:
    """What the jobs run, with the values of their matrices."""
    said: set[str] = set()
    for job in jobs.values():
        targets = [each["target"] for each in job.get("strategy", {}).get("matrix", {}).get("include", [])]
        for step in job["steps"]:
            run = step.get("run", "")
            said |= {run.replace("$TARGET", target) for target in targets} if "$TARGET" in run else {run}
    return said


def test_every_job_that_publishes_needs_all_tests_and_a_tag() -> None:
    publishing = {name for name, job in RELEASE.items() if "write" in job.get("permissions", {}).values()} - {"build"}
    assert publishing == {"pypi", "npm", "image"}
    for name in publishing:
        assert needed_by(name) == {"ci", "slow", "build"}
        assert RELEASE[name]["if"] == "github.event_name == 'push'"
        assert "if" not in RELEASE["build"]


def test_what_a_release_needs_is_every_suite() -> None:
    assert RELEASE["ci"]["uses"] == "$/.github/workflows/ci.yml"
    assert RELEASE["slow"]["uses"] == "$/.github/workflows/slow.yml"
    assert commands(read("ci.yml")["jobs"]) >= {
        ".ci/run",
        "make coverage",
        "make test-slow ARGS=-minstallers",
        "make image",
        "make test-slow ARGS=-mcompose",
    }
    slow = {"make conformance", "make test-slow ARGS=-mfaults", "make test-slow ARGS=-mcontract"}
    assert commands(read("slow.yml")["jobs"]) >= slow
