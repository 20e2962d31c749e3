"""The endpoints of the service. A view declares path, scopes, arguments and answers, and calls one function of a lower
layer."""

import json

from flask import Flask
from flask_smorest import Api

from app.config import Settings
from app.openapi.document import describe_fields, document
from app.routes import docs, echo, health, oauth, resource

BLUEPRINTS = (
    resource.blueprint,
    resource.search_blueprint,
    echo.blueprint,
    oauth.blueprint,
    health.blueprint,
    docs.blueprint,
)


def install_routes(app: Flask, settings: Settings) -> None:
    """Register every blueprint and the routes of the extension, and make the OpenAPI document."""
    api = Api(app)
    describe_fields(api)
    for blueprint in BLUEPRINTS:
        api.register_blueprint(blueprint)
    if settings.metrics_token is not None:
        api.register_blueprint(health.metrics_blueprint)
    app.extensions["openapi"] = document(app, api, settings)
    # Encoded once, because it takes ten milliseconds and any client may request it.
    app.extensions["openapi_text"] = json.dumps(app.extensions["openapi"]).encode()
    app.extensions["extension"].install(app)
