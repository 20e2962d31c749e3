"""The database: connections and their pool, a replica for reads, migrations, readiness, distribution."""
