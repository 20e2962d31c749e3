"""The query language of ``where``: text to parsed tree to resolved tree to SQL.

* ``grammar.lark``, ``parser.py``: the syntax;
* ``operators.py``: what each operator means, one row each;
* ``resolver.py``: names to fields, literals and variables to values of the fields' types;
* ``values.py``: the values themselves, and the messages for those that a field cannot have;
* ``compiler.py``: a condition to SQL, its values as parameters;
* ``ast.py``: the two trees.
"""
