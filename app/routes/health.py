"""The views of probes and metrics, for operators."""

from collections.abc import Callable, Mapping

from flask import Response, current_app

from app import errors
from app.database.readiness import Health
from app.http.answers import json_answer
from app.http.arguments import Blueprint, Endpoint
from app.identity.gate import raise_unless_bearer
from app.identity.scopes import public
from app.openapi.marks import Answer, operation
from app.routes.services import readiness
from app.telemetry.metrics import CONTENT_TYPE, metrics
from app.values.strict_json import CONTENT_TYPE as JSON
from app.values.strict_json import encode

blueprint = Blueprint("health", __name__, url_prefix="/health")

public_metrics = Blueprint("metrics", __name__)
"""The blueprint of ``/metrics`` on the public port. It is registered only if ``METRICS_TOKEN`` is set."""


def _live() -> bytes:
    return b'{"status":"live"}'


def _ready(look: Callable[[], Health]) -> bytes:
    found = look()
    if found.faults:
        raise errors.over_capacity(" ".join(found.faults.values()))
    warnings = {"warnings": found.warnings} if found.warnings else {}
    return encode({"status": "ready", **warnings}).encode()


def _exposition(look: Callable[[], Health]) -> bytes:
    metrics.ensure_folder()
    look()  # sets the metrics ``ready`` and ``warning``, which only a check updates
    return metrics.exposition()


def private_routes(look: Callable[[], Health]) -> Mapping[str, Mapping[str, Callable[[], tuple[str, bytes]]]]:
    """The routes of the private ports, by the setting that opens a port, and by path. They return content type and
    body.

    :param look: checks whether the process can serve requests.
    """
    return {
        "HEALTH_BIND": {
            "/health/live": lambda: (JSON, _live()),
            "/health/ready": lambda: (JSON, _ready(look)),
        },
        "METRICS_BIND": {"/metrics": lambda: (CONTENT_TYPE, _exposition(look))},
    }


@blueprint.route("/live")
class Live(Endpoint):
    """Whether the process answers at all."""

    @public
    @operation("isLive", Answer(200, "Status", "the process answers"))
    def get(self) -> Response:
        """Answer 200 as long as the process can.

        Does not check the database: if this probe fails, restart the process.
        """
        return json_answer(_live())


@blueprint.route("/ready")
class Ready(Endpoint):
    """Whether requests will be served: the database answers in time, is migrated, and connections are to be had."""

    @public
    @operation("isReady", Answer(200, "Status", "requests will be served"))
    def get(self) -> Response:
        """Answer 200 if the database answers, else 503.

        `warnings` names problems that an operator has to solve although requests are served: the disk of the database
        is full, or its write-ahead log is not archived. If this probe fails, do not restart the process: it serves
        again as soon as the database answers.
        """
        return json_answer(_ready(readiness().health))


@public_metrics.route("/metrics")
class Metrics(Endpoint):
    """The metrics, on the public port."""

    @public
    def get(self) -> Response:
        """Answer all metrics to who has the token of ``METRICS_TOKEN``."""
        raise_unless_bearer(current_app.extensions["metrics_token"], "metrics")
        return Response(_exposition(readiness().health), content_type=CONTENT_TYPE)
