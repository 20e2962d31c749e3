"""Makes applications with other settings than those of the application that most tests share."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

from flask import Flask

from app import create_app
from app.config import Settings
from app.database import migrate
from app.extension import installed_package
from tests.support.cluster import Cluster


@contextmanager
def open_app(settings: Settings, **changes: Any) -> Generator[Flask]:
    """An application with the given settings. Its database connections are closed at the end.

    :param changes: settings to replace, by their field names: ``open_app(settings, connections=1)``.
    """
    app = create_app(replace(settings, **changes))
    with closing(app.extensions["database"]):
        yield app


def own_database(cluster: Cluster) -> str:
    """Make a new database in a cluster, migrated, and return its URL."""
    url = cluster.create_database(f"own_{uuid4().hex}")
    migrate.upgrade(url, installed_package().migrations)
    return url
