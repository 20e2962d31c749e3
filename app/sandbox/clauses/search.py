"""The clauses on searches, filters and facets (4.4, 4.14 and S)."""

from collections.abc import Mapping

from app.sandbox.clauses.conditions import (
    Condition,
    When,
    code,
    faulty,
    ok,
    op,
    par,
    repeated,
    said,
    status,
    target,
    text,
)

BY_QUERY = op("searchResources")
BY_FORM = op("searchProductProjections")
SEARCH = BY_QUERY | BY_FORM
TEXT = r"text.[a-z]{2}(?:-[A-Z]{2})?"
WITH_TEXT = SEARCH & par(TEXT) & ok
LANGUAGES = "(?:ar|ca|da|de|el|en|es|et|eu|fi|fr|ga|hi|hu|hy|id|it|lt|ne|nl|no|pl|pt|ro|ru|sr|sv|ta|tr|yi)"
"""Those whose forms PostgreSQL knows, in some version."""
OBJECTS = "(?:createdBy|lastModifiedBy|objectTypeProperty|arrayOfObjectType)"
FILTER = r"filter(?:[.](?:query|facets))?"


def filtered(pattern: str) -> When:
    """A filter that was accepted and contains a match."""
    return SEARCH & ok & par(FILTER, pattern)


def faceted(pattern: str) -> When:
    """A facet that was accepted and contains a match."""
    return SEARCH & ok & par("facet", pattern)


CONDITIONS: Mapping[str, Condition] = {
    "4.4-1": BY_QUERY & par(rf"fuzzy|fuzzyLevel|staged|{FILTER}|facet|{TEXT}"),
    "4.4-2": BY_QUERY & par(TEXT),
    "4.4-3": SEARCH & par(r"text[^.].*|text[.][a-z]{3,}|text[.].*[A-Z].*|text[.][a-z]{2}-[a-z]{2}"),
    "4.4-4": BY_QUERY & ok,
    "4.4-5": SEARCH & ok & said(r'"results":\[\{'),
    "4.4-6": SEARCH & par("fuzzyLevel") & faulty,
    "4.4-7": SEARCH & par("sort|limit|offset|withTotal"),
    "4.14-1": BY_FORM & text("=") & ok,
    "4.14-2": BY_FORM & ok,
    "4.14-3": BY_FORM & text(r"(?:^|&)(?:fuzzy|staged|filter|facet|text\.)") & ok,
    "4.14-4": BY_FORM & text("=") & target(r"\?.+"),
    "4.14-5": BY_FORM & faulty & said("Unknown parameter"),
    "4.14-6": BY_FORM & ~text("=") & ok,
    "4.14-7": BY_FORM & par("staged"),
    "4.14-8": BY_FORM & status(415),
    "S-1": WITH_TEXT,
    "S-2": SEARCH & par(TEXT, r"\S\s+\S") & ok,
    "S-3": SEARCH & ok & repeated(TEXT),
    "S-4": SEARCH & par(TEXT, r"(?-i:[A-Z])") & ok,
    "S-5": WITH_TEXT,
    "S-6": (
        SEARCH & ok
        & par(rf"text.(?!{LANGUAGES})[a-z]{{2}}.*")
    ),
    "S-7": SEARCH & ok & par(TEXT, r"\b(?:the|a|an|of|and|or|der|die|das|und|le|la|el|los)\b"),
    "S-8": SEARCH & faulty & par(TEXT, r"^\s*$"),
    "S-9": SEARCH & ok & par("fuzzy") & par(TEXT),
    "S-10": SEARCH & ok & par("fuzzy", "^true$") & par(TEXT),
    "S-11": SEARCH & par("fuzzyLevel") & par("fuzzy", "^true$") & ok,
    "S-12": SEARCH & par("fuzzyLevel"),
    "S-13": filtered(":"),
    "S-14": filtered(r":\s*(?:\"|-?[0-9])"),
    "S-15": filtered(r":\s*range\s*\("),
    "S-16": filtered(r":\s*(?:exists|missing)"),
    "S-17": filtered(r"arrayOf"),
    "S-18": filtered(r":\s*(?:\"|-?[0-9])"),
    "S-19": filtered(r"range\s*\(\s*(?:\"|\*\s+to\s+\")"),
    "S-20": filtered(r"(?-i:RANGE|Range|EXISTS|MISSING|TO)\b"),
    "S-21": filtered(r"^\s*\w+\.\w+") | faceted(r"^\s*\w+\.\w+"),
    "S-22": filtered(r"^\s*(?:objectTypeProperty\.)?arrayOf") | faceted(r"^\s*(?:objectTypeProperty\.)?arrayOf"),
    "S-23": SEARCH & ok & par(r"filter[.]query"),
    "S-24": SEARCH & ok & par("filter") & par("facet"),
    "S-25": SEARCH & ok & par(r"filter[.]facets"),
    "S-26": SEARCH & ok & (repeated("filter") | repeated(r"filter[.]query") | repeated(r"filter[.]facets")),
    "S-27": WITH_TEXT & par("facet"),
    "S-28": SEARCH & ok,
    "S-29": faceted(""),
    "S-30": faceted(r"^[^:]+$"),
    "S-31": faceted(r"^[^:]+$"),
    "S-32": faceted(r"^[^:]+$"),
    "S-33": faceted(r"^[^:]+$"),
    "S-34": faceted(r"arrayOf"),
    "S-35": faceted(r":\s*(?:\"|-?[0-9])"),
    "S-36": faceted(r":\s*range"),
    "S-37": faceted(r":\s*range"),
    "S-38": faceted(r":\s*range"),
    "S-39": faceted(r"At\s*:\s*range"),
    "S-40": faceted(r"counting\s+products"),
    "S-41": faceted(r"counting\s+products"),
    "S-42": SEARCH & faulty & par("facet", r":\s*range"),
    "S-43": SEARCH & faulty & repeated("facet"),
    "S-44": WITH_TEXT & ~par("sort"),
    "S-45": SEARCH & ok & ~par("sort") & said(r'"results":\[\{'),
    "S-46": SEARCH & ok & par("sort"),
    "S-47": SEARCH & faulty & said("Syntax error while parsing"),
    "S-48": SEARCH & faulty & said("Syntax error while parsing"),
    "S-49": SEARCH & faulty & par(FILTER) & said("does not exist"),
    "S-50": SEARCH & code("SearchFacetPathNotFound"),
    "S-51": (
        SEARCH & faulty & (par(FILTER, r":\s*(?:\"|-?[0-9])") | par("facet", r":\s*(?:\"|-?[0-9])"))
        & ~said("Syntax|exist|found")
    ),
    "S-52": SEARCH & faulty & par(FILTER, r"subtree"),
    "S-53": SEARCH & faulty & (par("facet", rf"^\s*{OBJECTS}\b") | par(FILTER, rf"^\s*{OBJECTS}\s*:")),
    "S-54": SEARCH & faulty & said(r"[Aa]t most|are accepted|more than"),
    "S-55": faceted(r"^\s*(?:version|[\w.]*(?:Int|Float|Number|numbers|integer)\w*)\s*$"),
    "S-56": faceted(r"^[^:]+$"),
}  # fmt: skip

NOT_OBSERVABLE: Mapping[str, str] = {}
