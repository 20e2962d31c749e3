"""The languages of a search's filters and facets: from text to resolved trees.

* ``grammar.lark``, ``parser.py``: the syntax and the parsed tree;
* ``resolver.py``: the resolved tree; paths to fields, literals to values of the fields' types. A filter becomes a
  condition of the query language, whose compiler makes the SQL; :mod:`app.resource.searching.facets` compiles facets.
"""
