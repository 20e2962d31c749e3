"""Loads the parameters of requests from texts to typed values. The OAuth endpoints have their own parser.

A :class:`QuerySchema` is a marshmallow schema whose fields are parameters. It gets the whole multi-dictionary, so that
it can refuse names and values that other parsers drop: an undeclared name, a repeated parameter that is not repeatable,
an empty value. Each ``read_...`` function converts one text to a value, or raises a marshmallow ``ValidationError``
with the reason.
"""

import re
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, cast

from marshmallow import Schema, ValidationError, fields
from werkzeug.datastructures import MultiDict

from app import errors
from app.values.json_fields import STORABLE_TEXT, check_number, messages_with_paths
from app.values.patterns import JSON_NUMBER
from app.values.strict_json import INT64_MAX, INT64_MIN, HugeNumber, number_of, unstorable_character
from app.values.suggestions import similar, suggestion

JsonSchema = dict[str, Any]

LENGTH_AT_MOST = 16_384
"""The most characters of all values of declared parameters together. Only a form can contain more, because gunicorn
limits the request line to 8,190 bytes.

This number of characters is parsed in less than 100 ms. All requests of the process wait during the parsing; a thread
would hardly help, because it computes.
"""


def read_any_text(text: str) -> str:
    """Load a text that PostgreSQL can store, which may be empty."""
    unstorable = unstorable_character(text)
    if unstorable is not None:
        raise ValidationError(f"A text cannot hold {unstorable}.")
    return text


def read_text(text: str) -> str:
    """Load a text that PostgreSQL can store and that is not empty."""
    if not text:
        raise ValidationError("The value is empty.")
    return read_any_text(text)


def read_number(text: str) -> int | float:
    """Load a number in the notation of JSON. The first case that applies decides:

    - A number beyond the range of doubles is refused, even if it is a whole number.
    - Digits, with or without a minus sign, become an int, even outside of int64. ``-0`` becomes the int 0.
    - A negative zero in another notation, such as ``-0.0`` or ``-0e1``, becomes the double ``-0.0``.
    - Any other number whose nearest double is zero, such as ``0.0`` or ``-1e-400``, becomes the int 0.
    - A whole number within int64, such as ``2e1``, becomes an int.
    - Any other number becomes the nearest double (:func:`~app.values.strict_json.number_of`).

    :raises ValidationError: for a text that is no JSON number, and for a number beyond the range of doubles.
    """
    if JSON_NUMBER.fullmatch(text) is None:
        raise ValidationError(f"{errors.quoted(text)} is not a number.")
    number = number_of(text)
    if isinstance(number, HugeNumber):
        raise ValidationError(f"{errors.quoted(text)} is not a number that a double can hold.")
    return int(text) if text.removeprefix("-").isdigit() else number


def read_stored_number(text: str) -> int | float:
    """Load a number as an ObjectType stores it: an integer within int64, or a double."""
    return check_number(read_number(text))


def read_integer(text: str, minimum: int = INT64_MIN, maximum: int = INT64_MAX) -> int:
    """Load a whole number within a range. ``20``, ``20.0`` and ``2e1`` are equal.

    :raises ValidationError: for a text that is no JSON number, a number with a fraction, or a number out of the range.
    """
    number = read_number(text) or 0  # or 0: for -0.0, which is a float and would be refused as a fraction
    # read_number returns any other whole number within int64 as an int. So a float between -2**63 and 2**63 means that
    # the text has a fraction, even if the float is whole: 9007199254740993.5 becomes the float 9007199254740994.0.
    if isinstance(number, float) and abs(number) < 2.0**63:
        raise ValidationError(f"{errors.quoted(text)} has a fraction, a whole number is expected.")
    # Any other float is refused as out of range. The comparison alone would accept one of them as the minimum:
    # -9223372036854775808.5 becomes the float -2.0**63, which equals INT64_MIN.
    if isinstance(number, float) or not minimum <= number <= maximum:
        raise ValidationError(
            f"{errors.quoted(text)} is out of range, a whole number from {minimum} to {maximum} is expected."
        )
    return number


def read_boolean(text: str) -> bool:
    """Load ``true`` or ``false`` in any letter case."""
    value = text.lower()
    if value not in ("true", "false"):
        raise ValidationError(f"{errors.quoted(text)} is not a boolean, true or false is expected.")
    return value == "true"


def _read_each(read: Callable[[str], Any], texts: Sequence[str]) -> tuple[Any, ...]:
    """Load the values of a repeatable parameter.

    :raises ValidationError: with the reasons of all refused values, up to :data:`app.errors.FAULTS_AT_MOST`.
    """
    values: list[Any] = []
    reasons: list[Any] = []
    for text in texts:
        try:
            values.append(read(text))
        except ValidationError as error:
            reasons += error.messages
            if len(reasons) >= errors.FAULTS_AT_MOST:
                break
    if reasons:
        raise ValidationError(reasons)
    return tuple(values)


FILLED_TEXT_SCHEMA: JsonSchema = {**STORABLE_TEXT, "minLength": 1}
NUMBER_SCHEMA: JsonSchema = {"type": "number"}


class Parameter(fields.Field[Any]):
    """A parameter of an endpoint. A repeatable parameter loads to a tuple of values.

    :param read: converts a text to a value, or raises a ValidationError.
    :param schema: the JSON Schema of one value, for the OpenAPI document.
    :param repeatable: whether a request may have the parameter more than once.
    :param meaning: the description in the OpenAPI document.
    :param example: a value with which a request succeeds.
    :param how_sent: how a client has to send the parameter, for the hint of an error. Some clients write the name of an
        array or an object with brackets, such as ``name[0]`` or ``name[key]``. This name is refused, and the message
        ends with "Unknown parameter. 'name' is {how_sent}." A repeatable parameter without ``how_sent`` gets the text
        "repeated for several values". For any other parameter without ``how_sent`` the hint only suggests ``name``.
    """

    def __init__(
        self,
        read: Any,
        schema: JsonSchema,
        *,
        repeatable: bool = False,
        meaning: str = "",
        example: Any = None,
        data_key: str | None = None,
        how_sent: str = "",
    ) -> None:
        super().__init__(data_key=data_key)
        self.read = read
        self.repeatable = repeatable
        self.meaning = meaning
        self.example = example
        self.how_sent = how_sent or ("repeated for several values" if repeatable else "")
        self.schema: JsonSchema = {"type": "array", "items": schema} if repeatable else schema

    def _deserialize(self, value: list[str], *_: Any, **__: Any) -> Any:
        """Load the texts that were sent for the parameter (called by marshmallow)."""
        if self.repeatable:
            return _read_each(self.read, value)
        if len(value) > 1:
            raise ValidationError("The parameter can be given only once.")
        return self.read(value[0])


TextParameter = partial(Parameter, read_any_text, dict(STORABLE_TEXT))
"""A parameter that is any text that PostgreSQL can store, which may be empty."""

NumberParameter = partial(Parameter, read_stored_number, NUMBER_SCHEMA)
"""A parameter that is a number."""

BooleanParameter = partial(Parameter, read_boolean, {"type": "boolean"})
"""A parameter that is ``true`` or ``false``."""


_POSITION = re.compile(r"\[[0-9]*\]")
"""The position of an item, as some libraries write it behind the name of a repeated parameter."""


class ParameterFamily(Parameter):
    """All parameters whose names match a pattern, such as ``var.word`` and ``var.size``. Each of them is repeatable.
    They load to one dictionary. Its keys are the whole names of the parameters that were sent; the value of each key is
    the tuple of that parameter's values.

    :param pattern: a regular expression for the whole name.
    :param read: converts a text to a value, or raises a ValidationError.
    :param schema: the JSON Schema of one value.
    :param described: as for :class:`Parameter`, without ``how_sent``; ``example``, which is needed, is a dictionary
        such as ``{"var.word": "dog"}``.
    """

    def __init__(self, pattern: str, read: Callable[[str], str], schema: JsonSchema, **described: Any) -> None:
        super().__init__(read, schema, repeatable=True, **described)
        # DOTALL, because the interface demands the pattern ``text.[a-z]{2}``, in which the dot is not escaped. The dot
        # stands for any character, and a line break is a character, too.
        self._pattern = re.compile(pattern, re.ASCII | re.DOTALL)
        # In the OpenAPI document the family is one object. Each key is the name of a parameter. The value of the key is
        # one value of this parameter, or an array of its values. minItems excludes an empty array, for which a client
        # would send no parameter at all.
        several = {"type": "array", "items": schema, "minItems": 1}
        self.schema = {
            "type": "object",
            "propertyNames": {"pattern": f"^{pattern}$"},
            "additionalProperties": {"oneOf": [schema, several]},
        }

    def has(self, name: str) -> bool:
        """Whether the pattern matches the name of a parameter."""
        return self._pattern.fullmatch(name) is not None

    def name_like(self, name: str) -> str | None:
        """Guess which parameter of this family a client meant by an undeclared name, for the hint in the error.

        The prefix is what the names of the family begin with: ``var`` or ``text``. Examples:

        - ``var_ids``, ``varids``, ``var[ids][0]`` and ``vars.ids`` give ``var.ids``.
        - ``text_en_us`` and ``texten-us`` give ``text.en-US``.
        - ``text.english`` gives the name of the example, ``text.en``: the prefix is spelt correctly, but the rest makes
          no name of the family.

        :return: the name, or None in three cases:

            - Nothing follows the prefix, as in ``text``, or a misspelt prefix, as in ``txt``.
            - The first word is neither the prefix nor similar to it, as in ``variables.x``.
            - The prefix is misspelt, and the rest makes no name of the family, as in ``texts.english``.
        """
        example = next(iter(self.example))
        prefix = example.partition(".")[0]
        # Everything but letters and digits separates words: var_ids has the first word "var" and the others ["ids"].
        word, *others = re.findall("[A-Za-z0-9]+", _POSITION.sub("", name)) or [""]
        # The client may have forgotten the separator after the prefix. Then the first word is the prefix and the next
        # word in one. It is divided after the prefix in two cases:
        # - It is the only word: varids is divided into var and ids.
        # - A hyphen follows it: texten-us is divided into text and en. The hyphen is the one between language and
        #   region, so the word before the hyphen ends with the language.
        # In any other case, such as vars.ids, the first word is not divided: it may be a misspelt prefix, and `similar`
        # compares it with the prefix.
        if word != prefix and word.startswith(prefix) and (not others or name.startswith(f"{word}-")):
            word, others = prefix, [word.removeprefix(prefix), *others]
        if not others or similar(word, [prefix]) is None:
            return None
        rest = "".join(others)
        with_region = f"{others[0].lower()}-{''.join(others[1:]).upper()}"
        # The candidates; the first one that is a name of the family is returned:
        # - the prefix and the rest, which is the other words without separators: var.ids for var_ids
        # - the prefix and the rest as language and region: text.en-US for text_en_us
        # - the prefix and the rest in small letters: text.en for text.EN
        # - the example, but only if the prefix is spelt correctly
        candidates = [f"{prefix}.{each}" for each in (rest, with_region, rest.lower())]
        if word == prefix:
            candidates.append(example)
        return next((each for each in candidates if self.has(each)), None)

    def _deserialize(self, value: dict[str, list[str]], *_: Any, **__: Any) -> dict[str, tuple[str, ...]]:
        """Load the texts of all parameters of the family, by their names (called by marshmallow)."""
        loaded: dict[str, tuple[str, ...]] = {}
        refused: dict[str, list[str]] = {}
        for name, texts in value.items():
            try:
                loaded[name] = _read_each(self.read, texts)
            except ValidationError as error:
                refused[name] = cast("list[str]", error.messages)
        if refused:
            raise ValidationError(cast(Any, refused))
        return loaded


class QuerySchema(Schema):
    """The schema of the parameters of an endpoint. Every parameter is optional. The class itself declares none.

    Undeclared names are refused, except those in ``IGNORED``.
    """

    IGNORED: frozenset[str] = frozenset()
    """Names that clients may send although they have no meaning."""

    @cached_property
    def _known(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, "ParameterFamily"]]:
        """Three dictionaries of fields, by the names of their parameters: all fields; the fields that are no families;
        the families. The second one has the names that clients may send as they are. The name of a family, such as
        ``var.<name>``, is no such name: it stands for many."""
        known = {field.data_key or name: field for name, field in self.fields.items()}
        families = {name: field for name, field in known.items() if isinstance(field, ParameterFamily)}
        return known, {name: field for name, field in known.items() if name not in families}, families

    def _undeclared(self, name: str) -> errors.Fault:
        """The fault of an undeclared name, with a hint.

        If the undeclared name is a declared name and a bracket, such as ``sort[0]``, the hint says how ``sort`` has to
        be sent (``how_sent``). A declared parameter may have no ``how_sent``. Then the hint suggests its name:
        ``limit`` for ``limit[0]``.

        For any other undeclared name, the hint suggests the first of these that exists:

        - Of the declared names and the names that the families guess (:meth:`ParameterFamily.name_like`), the most
          similar one. There is none if no name is similar enough.
        - The first name that a family guesses, even if it is not similar.

        If neither exists, there is no hint. If the undeclared name has a bracket and the hint suggests the guess of a
        family, the hint adds that the parameter is repeated for several values.
        """
        _, declared, families = self._known
        name = name[:100]  # a longer name is cut, and the hint is for the cut name
        base = name.partition("[")[0]
        field = declared.get(base)
        if base != name and field is not None:  # some libraries write objects and arrays as name[...]
            hint = f" '{base}' is {field.how_sent}." if field.how_sent else suggestion(base)
        else:
            # The guesses of the families, such as var.ids for var_ids. A guess that equals the cut name is dropped: the
            # message would call a name unknown and suggest the same name. This can happen only if the name was cut:
            # the first 100 characters can be a name of a family, although the whole name is none.
            meant = [like for each in families.values() if (like := each.name_like(name)) is not None and like != name]
            # If no name is `similar`, the first guess is suggested.
            suggested = similar(name, [*declared, *meant]) or next(iter(meant), None)
            hint = suggestion(suggested)
            if "[" in name and suggested in meant:  # such as var.ids[0], or var[ids]
                hint += " It is repeated for several values."
        return errors.parameter_fault(name, f"Unknown parameter.{hint}")

    def load(self, data: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride] -- takes no options
        """Load the parameters of a request, a multi-dictionary of texts. The loaded values are passed to :meth:`make`,
        and its result is returned.

        :raises ApiError: 400. It lists the faults of undeclared names, then those of malformed values, at most
            :data:`app.errors.FAULTS_AT_MOST` in all. If the values of the declared parameters together are longer than
            :data:`LENGTH_AT_MOST`, no value is read. Then one fault, which names the longest parameter, stands in place
            of the faults of values. Without any of these faults :meth:`make` is called. If it finds that values
            contradict one another, the error lists this fault.
        """
        known, declared, families = self._known
        given: dict[str, Any] = {}
        faults: list[errors.Fault] = []
        characters: dict[str, int] = {}
        for name, texts in cast("MultiDict[str, str]", data).lists():
            family = next((key for key, field in families.items() if field.has(name)), None)
            if family is not None:
                given.setdefault(family, {})[name] = texts
            elif name in declared:
                given[name] = texts
            else:
                # Undeclared names beyond FAULTS_AT_MOST are skipped: finding a similar name for the hint takes long,
                # and an error does not list more faults.
                if name not in self.IGNORED and len(faults) < errors.FAULTS_AT_MOST:
                    faults.append(self._undeclared(name))
                continue
            characters[name] = sum(map(len, texts))
        together = sum(characters.values())
        if together > LENGTH_AT_MOST:
            longest = max(characters, key=characters.__getitem__)
            reason = f"All parameters together have {together} characters, {LENGTH_AT_MOST} are accepted."
            raise errors.ApiError([*faults, errors.parameter_fault(longest[:100], reason)])
        values: dict[str, Any] = {}
        for name in [name for name in known if name in given]:  # in the order of the declarations
            try:
                # For a family, such as var.<name>, given[name] is a dictionary: the texts of each parameter by its
                # whole name, such as var.word. marshmallow passes the third argument, ``given``, to the field's
                # _deserialize. Only the field of the parameter ``where`` uses it: it takes from ``given`` the texts of
                # the variables in its predicates.
                values[known[name].name] = known[name].deserialize(given[name], name, given)
            except ValidationError as error:
                faults += _faults_of({name: error.messages})
        if not faults:
            try:
                return self.make(values)
            except ValidationError as error:
                faults += _faults_of({error.field_name: error.messages})
        raise errors.ApiError(faults)

    def make(self, values: dict[str, Any]) -> Any:
        """Make the result of :meth:`load`. Subclasses override this to return something else than the dictionary.

        :param values: the loaded values of the parameters that were sent, by the names of their fields.
        :raises ValidationError: if the values do not go together, or are too many or too long together. Its
            ``field_name`` has to be the name of the parameter that the fault is to name.
        """
        return values


def _faults_of(messages: dict[str, Any]) -> list[errors.Fault]:
    """Make a fault of each message of a ValidationError. A message that is a ``Fault`` already, such as that of an
    unknown facet path, stays as it is, with its own code.

    :param messages: the messages by the name of a parameter. A family, such as ``var.<name>``, has a dictionary in
        place of the messages, by whole names such as ``var.word``. The fault gets the innermost name.
    """
    return [
        message if isinstance(message, errors.Fault) else errors.parameter_fault(path[-1][:100], message)
        for path, message in messages_with_paths(messages)
    ]
