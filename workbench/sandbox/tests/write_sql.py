"""``make generate ARGS=sql``: write the folder ``sql`` anew, from a walk on a PostgreSQL that is started for it."""

import logging

from sandbox_walk import FILES, walk_sandbox

from tests.support.cluster import Cluster
from tests.support.folders import NOT_DURABLE, open_folder

if __name__ == "__main__":
    logging.disable()
    with open_folder() as folder, Cluster(folder / "data", NOT_DURABLE) as cluster:
        print(FILES.write(walk_sandbox(cluster)))  # noqa: T201 -- what the command has to say
