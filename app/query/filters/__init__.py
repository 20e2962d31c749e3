"""The expressions of a search, filters and facets: from text to resolved trees.

* ``grammar.lark``, ``parser.py``: the syntax;
* ``resolver.py``: paths to fields, literals to values of the fields' types. A filter becomes a condition of the query
  language, so that its compiler serves here too; :mod:`app.resource.searching.facets` compiles facets;
* ``ast.py``: the two trees.
"""
