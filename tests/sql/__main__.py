"""``make generate ARGS=sql``: write the files of this folder anew, from a walk on a PostgreSQL that is started for it.

With ``--release`` it notes them as the statements of the release that ``setup.cfg`` names, too.
"""

import logging
import sys

from app.serving.embedded import EmbeddedPostgres
from tests.conftest import NOT_DURABLE, open_folder
from tests.sql import files, released
from tests.support.walk import walk

if __name__ == "__main__":
    logging.disable()
    with open_folder() as folder, EmbeddedPostgres(folder / "data", NOT_DURABLE) as cluster:
        walked = walk(cluster)
    made = files.made_from(walked)
    changed = {name for name in made.keys() | files.stored().keys() if made.get(name) != files.stored().get(name)}
    files.write(made)
    if "--release" in sys.argv:
        released.FILE.write_text(released.made_from(walked), "utf-8")
    print(f"{len(made)} files, {len(changed)} changed")  # noqa: T201 -- what the command has to say
