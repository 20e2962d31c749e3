"""The endpoints: for each its path, scopes, arguments and answer. A view calls one function of the layers below."""

from typing import Any, cast

from flask import Flask
from flask_smorest import Api

from app.routes import docs, oauth, operations, resource, samples

BLUEPRINTS = (resource.blueprint, samples.blueprint, oauth.blueprint, operations.blueprint, docs.blueprint)


def install_routes(app: Flask, api: Api) -> None:
    """Register every blueprint."""
    for blueprint in BLUEPRINTS:
        api.register_blueprint(blueprint)
    app.extensions["openapi"] = cast("Any", api.spec).to_dict()
