"""Large pages that clients take slowly have a limit of bytes, for a process and for each project."""

import gc
from collections import Counter
from contextlib import suppress

import pytest
from flask import Flask

from app import errors
from app.database.connection import Connection
from app.http.large_pages import LARGE_BYTES, PagesUnderWay
from app.routes import resource
from tests.resource.test_page_size import LISTS, insert
from tests.support.api import Api, codes
from tests.support.fixtures import TokenFor

LARGE = b" " * LARGE_BYTES


@pytest.fixture(autouse=True)
def _in_context(app: Flask) -> None:
    app.app_context().push()


def test_a_project_leaves_room_to_the_others_and_a_page_that_was_taken_makes_room() -> None:
    pages = PagesUnderWay(process_bytes=3 * LARGE_BYTES, project_bytes=2 * LARGE_BYTES)
    held = [pages.answer("one", LARGE) for _ in range(2)]
    with pytest.raises(errors.ApiError) as refused:
        pages.answer("one", LARGE)
    assert (refused.value.status, refused.value.headers["Retry-After"]) == (503, "1")
    held.append(pages.answer("two", LARGE))
    with suppress(errors.ApiError):
        held.append(pages.answer("three", LARGE))
    assert len(held) == 3, "more than the process may have"
    assert pages.answer("three", LARGE[1:]).status_code == 200, "a small page does not count"
    del refused, held[0]
    gc.collect()
    assert pages.answer("one", LARGE).status_code == 200


def test_a_page_that_is_freed_while_another_begins_no_longer_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = PagesUnderWay(process_bytes=3 * LARGE_BYTES, project_bytes=2 * LARGE_BYTES)
    held = [pages.answer("one", LARGE)]
    monkeypatch.setattr(Counter, "total", lambda _: held.clear() or 0)  # as the garbage collector may free it
    assert len([pages.answer("one", LARGE) for _ in range(2)]) == 2


@pytest.mark.parametrize("path", [*LISTS, "/product-projection-search"])
def test_every_page_counts(
    app: Flask, project: str, token_for: TokenFor, connection: Connection, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    api = Api(app, project, token_for(f"view_test:{project}", f"view_products:{project}"))
    insert(connection, api.project, *[65_000] * 17)
    monkeypatch.setattr(resource, "pages_under_way", PagesUnderWay(process_bytes=2**30, project_bytes=LARGE_BYTES))
    method = "POST" if path == "/product-projection-search" else "GET"
    refused = api.request(method, f"{path}?limit=17")
    assert (refused.status_code, codes(refused)) == (503, ["OverCapacity"])
    for _ in range(3):
        assert api.request(method, f"{path}?limit=16").status_code == 200
