"""The database: its connections and pool, migrations, readiness, and distribution with Citus."""
