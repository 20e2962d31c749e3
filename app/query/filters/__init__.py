"""The expressions of a search: filters and facets, from text to what SQL is made of.

* ``grammar.lark``, ``parser.py``: what can be written;
* ``resolver.py``: paths to fields, literals to values of the fields' types. A filter becomes a condition of the query
  language, which has a compiler already; a facet becomes a row of what is to be counted;
* ``ast.py``: the two trees.
"""
