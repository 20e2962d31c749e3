"""Expectations on refusals, for checks that are not about the form of errors."""

import json as json_text
from typing import Any

from sample_resource_testkit.answers import Answer


def errors_of(answer: Answer) -> list[dict[str, Any]]:
    """The entries of an error body; none if it has none that are objects."""
    body = answer.json
    entries: Any = body.get("errors") if isinstance(body, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def refused(answer: Answer, status: int, code: str, **members: Any) -> Answer:
    """Expect a status, and an entry of ``errors`` that has the given code and members.

    The rest of the error body is not checked here, so that a fault in it fails only the clauses on errors.
    """
    answer.expect_status(status)
    wanted = {"code": code, **members}
    holds = any(all(entry.get(name) == value for name, value in wanted.items()) for entry in errors_of(answer))
    return answer.expect(holds, f"an entry of errors with {json_text.dumps(wanted, ensure_ascii=False)}")


def details_of(answer: Answer) -> list[str]:
    """The texts in ``detailedErrorMessage`` of the entries."""
    return [text for entry in errors_of(answer) if isinstance(text := entry.get("detailedErrorMessage"), str)]


def refused_with_detail(answer: Answer, detail: str) -> Answer:
    """Expect 400 ``InvalidJsonInput`` with exactly this ``detailedErrorMessage``."""
    return refused(answer, 400, "InvalidJsonInput", detailedErrorMessage=detail)
