"""The service with a journal whose thread fails a few times in each worker, for gunicorn."""

import itertools
from typing import Any

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

    def failing(*arguments: Any, **options: Any) -> None:
        if not arguments and next(turns) <= FAILURES:  # with a project's key it is a list that flushes
            raise RuntimeError("on purpose")
        flush(*arguments, **options)

    journal.flush = failing
    return app
