"""What in a journal shows that a client has exercised a clause of the specification: a condition for each clause.

A clause is exercised by a request to which it applies, whatever the service made of it: that is tested elsewhere.
Clauses that no journal of one project can show are listed with their reasons. A test holds that each clause of the
specification is in one of the two tables, and in the tables only.
"""
