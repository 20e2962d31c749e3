"""What a journal says about a client: findings, recovery, clauses exercised, the report."""
