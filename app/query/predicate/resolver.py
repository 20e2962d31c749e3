"""Resolves parsed predicates: names become fields, literals and variables become values of the fields' types.

Faults are collected over all predicates, up to as many as an answer lists. A fault hides those that depend on it:

- an error of syntax hides the other faults of its predicate;
- an unknown name, or an operator that its field does not have, hides faults of the values and of the parentheses behind
  it, except for variables that are not sent;
- too many terms hide the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from app.query.fields import RESOURCE, Field
from app.query.kinds import Value
from app.query.language import TERMS_AT_MOST, Faults, place, trees_of
from app.query.messages import plus_hint, refused_literal, shown, unknown_field
from app.query.predicate.conditions import AllOf, AnyOf, Condition, HasElement, Holds
from app.query.predicate.operators import NEGATIONS, OPERATORS, Arity, Operator, tokens_of
from app.query.predicate.parser import And, Atom, Name, Nested, Not, Or, Parsed, Variable, parse

Variables = Mapping[str, Sequence[str]]
"""The texts of each variable, as the query string contains them."""


def read(texts: Sequence[str], variables: Variables) -> Condition:
    """Parse and resolve predicates. Return one condition, which a resource fulfils if it fulfils all predicates.

    :raises ValidationError: with the faults of all predicates, up to as many as an answer lists.
    """
    faults = Faults(
        f"The predicates have more than {TERMS_AT_MOST} terms; a comparison is one, or one for each value of its list."
    )
    conditions = [
        _Resolver(text, variables, faults).condition(tree, RESOURCE) for text, tree in trees_of(texts, parse, faults)
    ]
    faults.raise_if_any()
    return AllOf(tuple(conditions))


_REFUSED = AllOf(())
"""Replaces a term whose field or operator is refused. It is never compiled, because the request is refused."""


@dataclass(slots=True)
class _Resolver:
    """Resolves the tree of one predicate, and adds its faults to ``faults``."""

    text: str
    variables: Variables
    faults: Faults

    def condition(self, term: Parsed, known: Mapping[str, Field], *, negated: bool = False) -> Condition:
        """Resolve a term, or its negation. Its names are looked up in ``known``."""
        match term:
            case And(terms) | Or(terms):
                conditions = tuple(self.condition(inner, known, negated=negated) for inner in terms)
                # The negation of ``a and b`` is ``not a or not b``.
                return AllOf(conditions) if isinstance(term, And) != negated else AnyOf(conditions)
            case Not(inner):
                return self.condition(inner, known, negated=not negated)
            case Nested(name, inner):
                return self._nested(name, inner, known, negated=negated)
            case Atom():
                return self._atom(term, known, negated=negated)
            case _:
                assert_never(term)

    def _nested(self, name: Name, inner: Parsed, known: Mapping[str, Field], *, negated: bool) -> Condition:
        """Resolve ``name(inner)``, or its negation.

        If the field is an array of objects, ``inner`` has to hold for at least one element. If the field is a single
        object, ``inner`` has to hold for its members.
        """
        field = self._field(name, known)
        if field is None:
            return _REFUSED
        if field.members and field.is_array:
            # The negation is "no element fulfils inner", and not "an element does not fulfil inner".
            return HasElement(field, self.condition(inner, field.members), negated)
        if field.members:
            # Every resource has this object, so the negation of name(inner) is name(not inner).
            return self.condition(inner, field.members, negated=negated)
        self._refuse_expression(name, field)
        return _REFUSED

    def _atom(self, atom: Atom, known: Mapping[str, Field], *, negated: bool) -> Condition:
        """Resolve a comparison, or its negation. A token such as ``!=`` negates, too; two negations cancel out."""
        # A comparison has one term for each value: one for a literal, and as many for a variable as values are sent. A
        # comparison without values, such as "is defined" or one whose variable is not sent, counts as one term, too.
        counts = [len(self.variables.get(each.name, ())) if isinstance(each, Variable) else 1 for each in atom.operands]
        self.faults.count_terms(max(1, sum(counts)))
        field = self._field(atom.name, known)
        negation_of = NEGATIONS.get(atom.token)  # for "!=" the operator "="; None for "="
        operator = negation_of or OPERATORS[atom.token]
        if field is not None and operator.fits(field):
            values = self._values(atom, operator, field)
            if operator is OPERATORS["in"] and len(values) == 1:
                # For one value, "in" and "=" mean the same, but only "=" can use the order of the field's index
                # (Index.ORDER). So "in" is replaced by "=": a page that is sorted by this field can then read only the
                # part of the index that has this value.
                operator = OPERATORS["="]
            return Holds(field, operator, values, negated=negated != (negation_of is not None))
        if field is not None:
            self._refuse_expression(atom.name, field)
        # The field is unknown or does not have the operator, so there is no type by which to check the values. But a
        # variable that is not sent is a fault whatever the field is.
        for operand in atom.operands:
            if isinstance(operand, Variable) and not self.variables.get(operand.name):
                self._fault_of_missing(operand)
        return _REFUSED

    def _field(self, name: Name, known: Mapping[str, Field]) -> Field | None:
        """Return the field with this name. If there is none, add the fault of the unknown name, and return None."""
        field = known.get(name.text)
        if field is None:
            self._fault(unknown_field(name.text, known), name.position)
        return field

    def _refuse_expression(self, name: Name, field: Field) -> None:
        """Add the fault of an expression that a field does not take."""
        takes = [f"'{token}'" for token in tokens_of(field)]
        if field.members:
            takes.append("a condition in parentheses")
        reason = f"The field '{field.name}' does not support this expression. It takes {', '.join(takes)}."
        self._fault(reason, name.position)

    def _values(self, atom: Atom, operator: Operator, field: Field) -> tuple[Value, ...]:
        """The values of the operands; one that is refused is left out, and its fault is added."""
        found: list[Value] = []
        for operand in atom.operands:
            if isinstance(operand, Variable):
                found += self._values_of_variable(operand, field, atom.token, takes_list=operator.arity is Arity.LIST)
                continue
            value = field.kind.value_of(operand.value)
            if value is None:
                self._fault(refused_literal(field.name, field, operand), operand.position)
            else:
                found.append(value)
        return tuple(found)

    def _values_of_variable(self, variable: Variable, field: Field, token: str, *, takes_list: bool) -> list[Value]:
        """The values of a variable; one that is refused is left out, and its fault is added.

        :param token: the operator as it is written, for the fault.
        :param takes_list: whether the operator takes several values.
        """
        name, texts = variable.name, self.variables.get(variable.name, ())
        found: list[Value] = []
        if not texts:
            self._fault_of_missing(variable)
        elif len(texts) > 1 and not takes_list:
            self._fault(f"The variable '{name}' has {len(texts)} values, and '{token}' takes one.", variable.position)
        else:
            for text in texts:
                value = field.kind.read(text)
                if value is None:
                    # ``field.takes`` describes literals, whose texts are in double quotes. The value of a variable has
                    # no quotes, so the message mentions none, and shows none around an example.
                    takes = field.takes.replace(" in double quotes", "").replace('"', "")
                    what = f"{shown(text)}, the value of the variable '{name}'"
                    self._fault(
                        f"The field '{field.name}' takes {takes}, not {what}.{plus_hint(text)}", variable.position
                    )
                else:
                    found.append(value)
        return found

    def _fault_of_missing(self, variable: Variable) -> None:
        """Add the fault of a variable whose value is not sent."""
        self._fault(f"Missing parameter value for {variable.name}.", variable.position)

    def _fault(self, reason: str, position: int) -> None:
        """Add a fault, with the place in the text of this predicate to which it refers."""
        self.faults.add(f"{reason} {place(self.text, position)}")
