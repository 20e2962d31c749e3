"""The views of probes and metrics, for operators."""

from flask import Response, current_app

from app import errors
from app.http.answers import json_answer
from app.http.arguments import Blueprint, Endpoint
from app.identity.gate import raise_unless_bearer
from app.identity.scopes import public
from app.openapi.marks import Answer, operation
from app.routes.services import readiness
from app.telemetry.metrics import CONTENT_TYPE, metrics
from app.values.strict_json import encode

blueprint = Blueprint("health", __name__, url_prefix="/health")

metrics_blueprint = Blueprint("metrics", __name__)
"""The blueprint of ``/metrics``. It is registered only if ``METRICS_TOKEN`` is set."""


@blueprint.route("/live")
class Live(Endpoint):
    """Whether the process answers at all."""

    @public
    @operation("isLive", Answer(200, "Status", "the process answers"))
    def get(self) -> Response:
        """Answer 200 as long as the process can.

        Does not check the database: if this probe fails, restart the process.
        """
        return json_answer(b'{"status":"live"}')


@blueprint.route("/ready")
class Ready(Endpoint):
    """Whether requests will be served: the database answers in time and is migrated, connections are to be had, and the
    service has not been told to stop."""

    @public
    @operation("isReady", Answer(200, "Status", "requests will be served"))
    def get(self) -> Response:
        """Answer 200 if requests will be served, else 503.

        It is 503 if the database does not answer or lacks migrations, if no database connection becomes free within
        half a second (or `QUEUE_TIMEOUT_MS`, if that is shorter), or if the service is about to stop. `warnings` names
        problems that an operator has to solve although requests are served: the write-ahead log is not archived, or in
        the last minute a write of this process found the database's disk full or the database read-only. If this probe
        fails, do not restart the process: it serves again when the cause has gone.
        """
        found = readiness().health()
        if found.faults:
            raise errors.over_capacity(" ".join(found.faults.values()))
        return json_answer(encode({"status": "ready", **({"warnings": found.warnings} if found.warnings else {})}))


@metrics_blueprint.route("/metrics")
@public
def metrics_of_all() -> Response:
    """Answer with the metrics of all processes to a client that sends the token of ``METRICS_TOKEN``.

    :raises ApiError: 401 for any other client.
    """
    raise_unless_bearer(current_app.extensions["settings"].metrics_token, "metrics")
    # The result is not used. health() is called because it sets the metrics ``ready`` and ``warning``. It stops at the
    # first fault, and the metrics of the later checks keep their values.
    readiness().health()
    return Response(metrics.exposition(), content_type=CONTENT_TYPE)
