"""Runs the command line by ``python -m sample_resource``, for systems whose folder of scripts is not on the path.

In the wheel this folder has the name ``sample_resource``.
"""

from . import main

main()
