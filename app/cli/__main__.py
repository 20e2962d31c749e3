"""Runs the command line by ``python -m app.cli``, in a checkout that is not installed."""

from app.cli import main

main()
