"""The query language of ``where``: from text to a parsed tree, to a resolved tree, to SQL.

* ``grammar.lark``, ``parser.py``: the syntax and the parsed tree;
* ``operators.py``: the operators, one row each;
* ``resolver.py``: names to fields, literals and variables to values of the fields' types;
* ``conditions.py``: the resolved tree;
* ``compiler.py``: a condition to SQL, its values as parameters.
"""
