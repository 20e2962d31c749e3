"""``python -m app.cli``: the command line of a checkout that is not installed."""

from app.cli import main

main()
