"""What the application counts, in one process, and who may read it on the public port."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask

from app.config import InvalidSetting, Settings
from app.errors import CATALOGUE
from app.telemetry.metrics import metrics
from tests.support.api import Api, codes
from tests.support.applications import open_app
from tests.support.samples import samples, value

TOKEN = "a-metrics-token.of~some+length/=="


class Counted:
    """By how much a sum has grown since this object was made, in the application of this process."""

    def __init__(self) -> None:
        self._before = samples(metrics.exposition().decode())

    def __call__(self, name: str, **labels: str) -> float:
        return value(samples(metrics.exposition().decode()), name, **labels) - value(self._before, name, **labels)


@pytest.fixture
def counted() -> Counted:
    return Counted()


RESOURCE = "/{project_key}/resource/{resource_id}"


def test_requests_are_counted_by_route_method_and_status(api: Api, counted: Counted) -> None:
    created = api.create()
    for _ in range(3):
        assert api.get(f"/{created['id']}").status_code == 200
    assert api.get("/nothing").status_code == 404
    assert counted("http_requests_total", method="GET", route=RESOURCE, status="200") == 3
    assert counted("http_requests_total", method="GET", route=RESOURCE, status="404") == 1
    assert counted("http_requests_total", method="POST", route="/{project_key}/resource", status="201") == 1
    assert counted("http_request_duration_seconds_count", method="GET", route=RESOURCE) == 4
    assert 0 < counted("http_request_duration_seconds_sum", method="GET", route=RESOURCE) < 10
    # The request whose id is no UUID sends no SQL.
    assert 3 <= counted("http_request_sql_seconds_count", method="GET", route=RESOURCE) <= 4
    assert counted("http_request_duration_seconds_bucket", method="GET", route=RESOURCE, le="+Inf") == 4


def test_labels_do_not_grow_with_unknown_paths_and_methods(app: Flask, api: Api, counted: Counted) -> None:
    before = len(samples(metrics.exposition().decode()))
    for number in range(20):
        api.request("GET", f"//unknown/{number}")
        app.test_client().open("/", method=f"METHOD{number}")
        api.get(f"/key=invented-{number}")
    assert counted("http_requests_total", route="(unknown)", method="GET") == 20
    assert counted("http_requests_total", route="(unknown)", method="(other)") == 20
    assert len(samples(metrics.exposition().decode())) - before < 100


def test_every_code_and_result_is_exposed_before_it_first_occurs(app: Flask) -> None:
    found = samples(metrics.exposition().decode())
    assert {dict(labels)["code"] for name, labels in found if name == "refusals_total"} == set(CATALOGUE)
    assert {dict(labels)["result"] for name, labels in found if name == "token_checks_total"} == {
        "cached",
        "verified",
        "refused",
    }


def test_database_refusals_are_counted_by_reason(settings: Settings, counted: Counted) -> None:
    with open_app(settings, connections=1, queue_timeout_ms=50, statement_timeout_ms=100) as app:
        database = app.extensions["database"]
        with pytest.raises(Exception, match="took too long"), database.connection() as connection:
            connection.execute("SELECT pg_sleep(5)")
        with (
            database.connection(),
            pytest.raises(Exception, match="No database connection became free"),
            database.connection(),
        ):
            pass
    with open_app(settings, database_url="host=/nowhere dbname=x") as app:  # noqa: SIM117 -- what fails stands alone
        with pytest.raises(Exception, match="not available"), app.extensions["database"].connection():
            pass
    reasons = {
        reason: counted("database_refusals_total", reason=reason)
        for reason in ("statement_timeout", "project_busy", "away")
    }
    assert reasons == {"statement_timeout": 1, "project_busy": 1, "away": 1}


def test_concurrent_counts_lose_nothing(counted: Counted) -> None:
    def count(_: int) -> None:
        for _ in range(2000):
            metrics.count_request("GET", "/another-test", 200, 0.001, 0.0005)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count, range(4)))
    assert counted("http_requests_total", route="/another-test") == 8000
    assert counted("http_request_sql_seconds_count", route="/another-test") == 8000


# On the public port


@pytest.fixture
def with_token(settings: Settings) -> Iterator[Flask]:
    with open_app(settings, metrics_token=TOKEN) as application:
        yield application


def test_the_token_gives_access(with_token: Flask) -> None:
    answer = with_token.test_client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert answer.content_type.startswith("text/plain; version=")
    assert value(samples(answer.text), "ready", check="database") == 1
    assert "/metrics" not in with_token.extensions["openapi"]["paths"]


@pytest.mark.parametrize(
    ("authorization", "message"),
    [
        (None, "This endpoint requires an access token."),
        ("Basic YTpi", "This endpoint requires an access token."),
        (f"Bearer {TOKEN[:-3]}", "invalid_token"),
        (f"Bearer {TOKEN}=", "invalid_token"),
        ("Bearer x", "invalid_token"),
    ],
)
def test_other_credentials_are_refused(with_token: Flask, authorization: str | None, message: str) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = with_token.test_client().get("/metrics", headers=headers)
    assert (answer.status_code, codes(answer)) == (401, ["invalid_token"])
    assert answer.get_json()["message"] == message
    assert answer.headers["WWW-Authenticate"].startswith('Bearer realm="metrics"')


@pytest.mark.parametrize(
    ("variable", "text"), [("METRICS_TOKEN", "short"), ("METRICS_TOKEN", "with blanks in between it")]
)
def test_invalid_settings_are_refused(variable: str, text: str) -> None:
    with pytest.raises(InvalidSetting, match=f"^{variable}") as refused:
        Settings.from_environment({variable: text})
    assert text not in str(refused.value)
