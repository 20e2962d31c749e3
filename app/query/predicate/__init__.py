"""The query language of ``where``: from text to a parsed tree, to a resolved tree, to SQL.

* ``grammar.lark``, ``parser.py``: the syntax;
* ``operators.py``: the operators, one row each;
* ``resolver.py``: names to fields, literals and variables to values of the fields' types;
* ``values.py``: the messages for unknown fields and for values that a field cannot be compared with;
* ``compiler.py``: a condition to SQL, its values as parameters;
* ``ast.py``: the parsed tree and the resolved tree.
"""
