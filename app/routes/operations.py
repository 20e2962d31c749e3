"""What those who run the service ask it."""

from flask import Response
from flask.views import MethodView

from app import errors
from app.auth import public
from app.db import Connection
from app.openapi import Answer, operation
from app.web import Blueprint, database, json_answer

blueprint = Blueprint("operations", __name__, url_prefix="/health")


@blueprint.route("/live")
class Live(MethodView):
    """Whether the process answers at all."""

    @public
    @operation("isLive", Answer(200, "Status", "the process answers"))
    def get(self) -> Response:
        """Answer 200 as long as the process can.

        Says nothing about the database: if this fails, a restart helps.
        """
        return json_answer('{"status":"live"}')


@blueprint.route("/ready")
class Ready(MethodView):
    """Whether requests will be served."""

    @public
    @operation("isReady", Answer(200, "Status", "requests will be served"))
    def get(self) -> Response:
        """Answer 200 if the database answers, else 503.

        Nothing has to be restarted when it fails: service resumes by itself with the database.
        """
        with database().connection() as connection:
            _raise_if_schema_is_missing(connection)
        return json_answer('{"status":"ready"}')


def _raise_if_schema_is_missing(connection: Connection) -> None:
    row = connection.execute("SELECT to_regclass('resource') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        raise errors.over_capacity("The database has not been migrated.")
