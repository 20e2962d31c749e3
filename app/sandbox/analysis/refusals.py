"""Which clause of the specification says that a request is refused as it was, by the error that was answered.

The first row that fits gives the clause, so the special ones stand before the general ones. A test sends a request for
each row, and compares with the specification.
"""

import re
from dataclasses import dataclass, replace

from app.errors import ApiError, Fault

_ANY = frozenset[str]()

_UPDATE = frozenset(("updateResourceById",))
_DELETE = frozenset(("deleteResourceById",))
_PATCH = frozenset(("overwriteResource",))
_COLLECTION = frozenset(("createOrUpdateResource", "createOrOverwriteResource", *_PATCH))
_ALL_OPTIONS = frozenset(("postWithAllOptions",))
_LINKS = frozenset(("postDescriptionWithLinks",))
_BY_FORM = frozenset(("searchProductProjections",))
_BY_ID = frozenset(("getResourceById",))
_BY_KEY = frozenset(("getResourceByKey",))


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row: a clause, and the errors that it is about.

    :param says: what the message or, if there is one, the detailed message contains.
    :param operations: of these requests alone; empty: of any.
    """

    clause: str
    code: str
    says: str = ""
    operations: frozenset[str] = _ANY


REFUSALS = (
    # Who asks
    Refusal("A-23", "invalid_client"),
    Refusal("A-24", "invalid_scope", r"Invalid scope"),
    Refusal("A-25", "invalid_scope", r"^Permissions exceeded"),
    Refusal("A-26", "unsupported_grant_type"),
    Refusal("A-27", "invalid_request", r"grant_type"),
    Refusal("A-2", "invalid_token", r"requires an access token"),
    Refusal("A-3", "invalid_token"),
    Refusal("A-6", "insufficient_scope"),
    # What there is
    Refusal("E-15", "ResourceNotFound", r"^URI not found"),
    Refusal("4.2-3", "ResourceNotFound", operations=_BY_ID),
    Refusal("4.3-2", "ResourceNotFound", operations=_BY_KEY),
    Refusal("4.10-4", "ResourceNotFound", operations=_UPDATE),
    Refusal("4.11-3", "ResourceNotFound", operations=_DELETE),
    Refusal("4.6-7", "ResourceNotFound", r"with ID", _COLLECTION),
    Refusal("4.7-5", "ResourceNotFound", r"with key", _PATCH),
    Refusal("4.7-3", "ResourceNotFound", r"has no Resource", _PATCH),
    Refusal("E-33", "MethodNotAllowed"),
    # Versions and conditions
    Refusal("9-5", "ConcurrentModification", operations=_UPDATE),
    Refusal("4.11-5", "ConcurrentModification", operations=_DELETE),
    Refusal("9-6", "ConcurrentModification"),
    Refusal("H-10", "PreconditionFailed", r"If-None-Match"),
    Refusal("H-3", "PreconditionFailed", operations=_BY_ID | _BY_KEY),
    Refusal("H-5", "PreconditionFailed"),
    # The message
    Refusal("E-33", "ContentTooLarge"),
    Refusal("4.14-8", "UnsupportedMediaType", operations=_BY_FORM),
    Refusal("H-17", "UnsupportedMediaType"),
    Refusal("E-26", "OverCapacity"),
    Refusal("4.9-12", "InvalidInput", r"^Malformed path", _ALL_OPTIONS),
    # Parameters
    Refusal("4-4", "InvalidInput", r": Unknown parameter"),
    Refusal("4-5", "InvalidInput", r"only once"),
    Refusal("4-13", "InvalidInput", r"is not UTF-8|cannot hold"),
    Refusal("Q-41", "InvalidInput", r"^Malformed parameter: where: The value is empty"),
    Refusal("S-8", "InvalidInput", r"^Malformed parameter: text\..*: The value is (empty|blank)"),
    Refusal("4-6", "InvalidInput", r"^Malformed parameter: (?!If-).*: The value is empty"),
    Refusal("4-8", "InvalidInput", r"not a boolean"),
    Refusal("4.12-7", "InvalidInput", r"^Malformed parameter: (limit|offset): .*has a fraction"),
    Refusal("4.12-4", "InvalidInput", r"^Malformed parameter: limit: "),
    Refusal("4.12-5", "InvalidInput", r"^Malformed parameter: offset: "),
    Refusal("4.12-18", "InvalidInput", r"^Malformed parameter: sort: "),
    Refusal("4.11-6", "InvalidInput", r"^Malformed parameter: version: .*is not a number", _DELETE),
    Refusal("4.1-16", "InvalidInput", r"^Malformed parameter: integerParameter: .*(has a fraction|is out of range)"),
    Refusal("S-12", "InvalidInput", r"^Malformed parameter: fuzzyLevel: "),
    Refusal("4-10", "InvalidInput", r"is not a number"),
    Refusal("4.1-14", "InvalidInput", r"^Malformed parameter: objectParameter"),
    # Predicates
    Refusal("Q-37", "InvalidInput", r"^Malformed parameter: where: Missing parameter value"),
    Refusal("Q-38", "InvalidInput", r"^Malformed parameter: where: .*takes one\."),
    Refusal("Q-39", "InvalidInput", r"^Malformed parameter: where: Syntax error"),
    Refusal("Q-42", "InvalidInput", r"^Malformed parameter: where: The field '[^']*' does not exist"),
    Refusal("Q-43", "InvalidInput", r"^Malformed parameter: where: The field '[^']*' takes .*, not "),
    Refusal("Q-44", "InvalidInput", r"^Malformed parameter: where: .*does not support this expression"),
    Refusal("Q-45", "InvalidInput", r"^Malformed parameter: where: .*(nested deeper|more than 500 terms)"),
    # Filters, facets and texts
    Refusal("S-42", "InvalidInput", r"^Malformed parameter: (filter\.)?facets?: .*has no ranges"),
    Refusal("S-43", "InvalidInput", r"^Malformed parameter: (filter\.)?facets?: Two facets"),
    Refusal("S-47", "InvalidInput", r"^Malformed parameter: (filter|facet)[^:]*: Syntax error"),
    Refusal("S-49", "InvalidInput", r"^Malformed parameter: filter[^:]*: The field '[^']*' does not exist"),
    Refusal("S-50", "SearchFacetPathNotFound"),
    Refusal("S-51", "InvalidInput", r"^Malformed parameter: (filter|facet)[^:]*: The field '[^']*' takes .*, not "),
    Refusal("S-52", "InvalidInput", r"is no hierarchy"),
    Refusal("S-53", "InvalidInput", r"^Malformed parameter: (filter|facet)[^:]*: .*does not support this expression"),
    Refusal(
        "S-54",
        "InvalidInput",
        r"There are (more than )?[0-9]+ (facets|values|ranges)|[0-9]+ are accepted\.|: The texts of a search",
    ),
    # Headers, and what is left of parameters
    Refusal("H-13", "InvalidInput", r"^Malformed parameter: If-(None-)?Match: .* nor a list"),
    Refusal("E-34", "InvalidInput", r"^Malformed parameter: If-"),
    Refusal("E-5", "InvalidInput", r"^Malformed parameter: "),
    # Bodies
    Refusal("4-15", "InvalidJsonInput", r"^The text is |is not a JSON value$|stands twice in one object$"),
    Refusal("4-14", "InvalidJsonInput", r"^JSON object expected|^Expecting |\(line [0-9]+, column [0-9]+\)$"),
    Refusal("4.6-9", "InvalidJsonInput", r"^objectTypeProperty: Missing required value", _COLLECTION),
    Refusal("4.10-5", "InvalidJsonInput", r"^(version|actions): Missing required value", _UPDATE),
    Refusal("4.13-3", "InvalidJsonInput", r"^lastModifiedAt: Missing required value", _LINKS),
    Refusal("2.6-6", "InvalidJsonInput", r"^actions -> [0-9]+ -> action: ", _UPDATE),
    Refusal("2.4-5", "InvalidJsonInput", r"Unknown field", _ALL_OPTIONS | _LINKS),
    Refusal("4-16", "InvalidJsonInput", r": Unknown field"),
    Refusal("2.6-4", "InvalidJsonInput", r"^actions -> [0-9]+ -> someProperty: ", _UPDATE),
    Refusal("9-11", "InvalidJsonInput", r"^version: JSON Number"),
    Refusal(
        "2.3-13", "InvalidJsonInput", r"^objectTypeProperty -> .*: JSON (?!Number without)\w+ .*expected", _COLLECTION
    ),
    Refusal("E-6", "InvalidJsonInput"),
    Refusal("2.2-11", "DuplicateField"),
    Refusal("2.3-17", "InvalidField", r"A text cannot hold"),
    Refusal("2.2-12", "InvalidField", r"for field 'key'", _COLLECTION),
    Refusal("2.3-9", "InvalidField", r"An int64 integer is expected"),
    Refusal("2.3-10", "InvalidField", r"An int32 integer is expected"),
    Refusal("2.3-12", "InvalidField", r"a double can hold"),
    Refusal("2.3-14", "InvalidField", r"for field '[^']*arrayOfUniqueIntExample"),
    Refusal("2.3-15", "InvalidField", r"for field '[^']*arrayOfTwonumbersExample'"),
    Refusal("2.4-6", "InvalidField", r"date-time", _ALL_OPTIONS | _LINKS),
    Refusal("4.10-10", "InvalidField", r"for field 'actions'", _UPDATE),
    Refusal("E-9", "InvalidField"),
)
"""All rows. What no row is about, such as a 500, has no clause of its own."""


_COMPILED = tuple((row, re.compile(row.says, re.DOTALL)) for row in REFUSALS)


def clause_of(operation: str | None, fault: Fault) -> str | None:
    """The clause that a fault of a request rests on; None if that is not known.

    :param operation: of the request; None: of a URL that is none, or of another method.
    """
    text = fault.extra.get("detailedErrorMessage", fault.message)
    for row, says in _COMPILED:
        if row.code == fault.code and (not row.operations or operation in row.operations) and says.search(text):
            return row.clause
    return None


def with_clauses(error: ApiError, operation: str | None) -> ApiError:
    """The error with ``clause`` in each fault whose clause is known."""
    clauses = [clause_of(operation, fault) for fault in error.faults]
    return ApiError(
        [
            fault if clause is None else replace(fault, extra={**fault.extra, "clause": clause})
            for fault, clause in zip(error.faults, clauses, strict=True)
        ],
        error.headers,
        error.status,
        error.description,
    )
