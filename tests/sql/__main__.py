"""``make sql``: write the files of this folder anew, from a walk on a PostgreSQL that is started for it."""

import logging

from app.serving.embedded import EmbeddedPostgres
from tests.conftest import NOT_DURABLE, open_folder
from tests.sql import files
from tests.support.walk import walk

if __name__ == "__main__":
    logging.disable()
    with open_folder() as folder, EmbeddedPostgres(folder / "data", NOT_DURABLE) as cluster:
        made = files.made_from(walk(cluster))
    changed = {name for name in made.keys() | files.stored().keys() if made.get(name) != files.stored().get(name)}
    files.write(made)
    print(f"{len(made)} files, {len(changed)} changed")  # noqa: T201 -- what the command has to say
