"""A PostgreSQL server for tests, in which they make databases of their own."""

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from app.serving.embedded import DATABASE, EmbeddedPostgres


class Cluster(EmbeddedPostgres):
    """An embedded PostgreSQL with any number of databases."""

    def conninfo_of(self, database: str, *, superuser: bool = False) -> str:
        """The libpq connection string of one of its databases."""
        return make_conninfo(self.conninfo(), dbname=database, user="postgres" if superuser else DATABASE)

    def create_database(self, name: str, template: str | None = None) -> str:
        """Make a database, empty or as a copy of a template, and return its connection string."""
        statement = sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(DATABASE))
        if template is not None:
            # The default strategy WAL_LOG is used, because FILE_COPY is faster only for small templates without fsync.
            statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
        self._execute(statement)
        return self.conninfo_of(name)

    def drop_database(self, name: str) -> None:
        """Remove a database if it exists, after ending the connections to it."""
        self._execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def _execute(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.conninfo_of("postgres", superuser=True), autocommit=True) as connection:
            connection.execute(statement)
