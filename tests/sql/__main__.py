"""``make generate ARGS=sql``: write the files of this folder anew, from a walk on a PostgreSQL that is started for it.

With ``--release`` it notes them as the statements of the release that ``setup.cfg`` names, too.
"""

import logging
import sys

from tests.sql import released
from tests.sql.files import SERVICE
from tests.support.cluster import Cluster
from tests.support.folders import NOT_DURABLE, open_folder
from tests.support.walk import walk

if __name__ == "__main__":
    logging.disable()
    with open_folder() as folder, Cluster(folder / "data", NOT_DURABLE) as cluster:
        walked = walk(cluster)
    if "--release" in sys.argv:
        released.FILE.write_text(released.made_from(walked), "utf-8")
    print(SERVICE.write(walked))  # noqa: T201 -- what the command has to say
