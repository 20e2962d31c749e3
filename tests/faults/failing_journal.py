"""The service with a journal whose thread fails a few times in each worker, for gunicorn."""

import itertools

from flask import Flask

from app import create_app
from app.sandbox.journal.journal import Journal

FAILURES = 3
"""In each worker."""


def application() -> Flask:
    """The application, with the sandbox."""
    app = create_app()
    journal: Journal = app.extensions["sandbox"].journal
    flush, turns = journal.flush, itertools.count(1)

    def failing(project_key: str | None = None) -> None:
        if project_key is None and next(turns) <= FAILURES:
            raise RuntimeError("on purpose")
        flush(project_key)

    journal.flush = failing
    return app
