"""``python -m sample_resource``: the command line, if the folder of scripts is not on the path.

In the wheel this folder has the name ``sample_resource``.
"""

from . import main

main()
