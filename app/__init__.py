"""The sample resource service: one HTTP interface on PostgreSQL."""
