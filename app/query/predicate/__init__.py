"""The query language of ``where``: text to parsed tree to resolved tree to SQL.

* ``grammar.lark``, ``parser.py``: what can be written, and where a text departs from it;
* ``operators.py``: what each operator means, one row each;
* ``resolver.py``: names to fields, literals and variables to values of the fields' types;
* ``compiler.py``: a condition to SQL, its values as parameters;
* ``ast.py``: the two trees.
"""
