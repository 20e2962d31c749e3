"""The endpoints of the service. A view declares path, scopes, arguments and answers, and calls the lower layers."""

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
    """Register the blueprints of the service, make the OpenAPI document, and then let the extension
    (:class:`app.extension.Extension`, not one of Flask) add its routes.

    The extension comes last for two reasons. It reads the finished document. And the document is made from the routes
    that are registered by then, in the order of ``BLUEPRINTS``; it must not list those of the extension.

    :param app: its dictionary ``extensions``, which is Flask's, already has the objects of :mod:`app.routes.services`,
        and the :class:`app.extension.Extension` under the key ``extension``.
    """
    api = Api(app)
    describe_fields(api)  # before a blueprint is registered, because flask-smorest then describes its parameters
    for blueprint in BLUEPRINTS:
        api.register_blueprint(blueprint)
    if settings.metrics_token is not None:
        api.register_blueprint(health.metrics_blueprint)
    app.extensions["openapi"] = document(app, api, settings)
    # Encoded once, because it takes over a millisecond and any client may request it.
    app.extensions["openapi_text"] = json.dumps(app.extensions["openapi"]).encode()
    app.extensions["extension"].install(app)
