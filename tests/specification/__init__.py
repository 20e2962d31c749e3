"""The specification: its clauses are read from ``docs/specification.md``, and everything else is made from them.

* ``clauses.py``: the clauses, and the data files with them;
* ``page.py``: the page that the service serves.

``make generate ARGS=specification`` writes the files anew; the tests of this folder compare them.
"""
