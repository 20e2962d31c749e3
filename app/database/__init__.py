"""The database: its connections and pool, a replica for reads, migrations, readiness, and distribution with Citus."""
