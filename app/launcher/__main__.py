"""``python -m sample_resource``: the command line, for where the folder of scripts is not on the path."""

from . import main

main()
