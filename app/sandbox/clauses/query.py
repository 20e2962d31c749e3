"""The clauses on the sorted list and the language of predicates (4.12 and Q)."""

from collections.abc import Mapping

from app.sandbox.clauses.conditions import (
    Condition,
    Then,
    When,
    exactly,
    faulty,
    ok,
    op,
    par,
    repeated,
    said,
    same_project,
    status,
    target,
)

SORTED = op("listResourcesSorted")
WITH_WHERE = op("listResources", "listResourcesSorted", "checkResources") & par("where")
WITH_VARIABLES = op("listResources", "listResourcesSorted", "checkResources") & par(r"var.*")
ARRAY = r"arrayOf(?:\w*Int|Twonumbers|Float|NumberNoDefaults|String)Example"


def where(pattern: str) -> When:
    """A predicate that was accepted and contains a match."""
    return WITH_WHERE & (ok | status(404)) & par("where", pattern)


def wrong(pattern: str = "", message: str = "") -> When:
    """A predicate that was refused and contains a match."""
    return WITH_WHERE & faulty & par("where", pattern) & said(message)


CONDITIONS: Mapping[str, Condition] = {
    "4.12-1": SORTED & par(r"where|sort|limit|offset|withTotal|expand|var[.].+"),
    "4.12-2": SORTED & ok,
    "4.12-3": SORTED & ok & said(r'"results":\[\{'),
    "4.12-4": SORTED & par("limit"),
    "4.12-5": SORTED & par("offset"),
    "4.12-6": SORTED & par("limit|offset", r"\.0+$") & ok,
    "4.12-7": SORTED & par("limit|offset", r"\.[0-9]*[1-9]") & faulty,
    "4.12-8": SORTED & par("withTotal", "^false$") & ok,
    "4.12-9": SORTED & ok & said(r'"total":'),
    "4.12-10": SORTED & ok & said(r'"total":'),
    "4.12-11": SORTED & par("sort") & ok,
    "4.12-12": SORTED & repeated("sort") & ok,
    "4.12-13": SORTED & par("sort") & ok,
    "4.12-14": SORTED & par("sort", r"\s(?-i:Asc|ASC|Desc|DESC)") & ok,
    "4.12-15": SORTED & par("sort", r"^\s*(?:key|someProperty)") & ok,
    "4.12-16": SORTED & par("sort", r"^\s*(?:key|someProperty)") & ok,
    "4.12-17": SORTED & ok & said(r'"results":\[\{'),
    "4.12-18": SORTED & par("sort") & faulty,
    "4.12-19": SORTED & exactly("expand", "createdBy", "lastModifiedBy") & ok,
    "4.12-20": SORTED & par("expand") & faulty,
    "4.12-21": Then(SORTED & par("sort", "^id") & ok, SORTED & par("where", r"\bid\s*>") & ok, same_project),
    "Q-1": where(""),
    "Q-2": where(r"[^<>!]=|!=|<>"),
    "Q-3": where(r"(?:version|At|Example|arrayOf\w+)\s*[<>]"),
    "Q-4": where(r"(?:key|someProperty|StringExample|\bid)\s*[<>]"),
    "Q-5": where(r'(?:key|someProperty|StringExample)\s*=\s*["\:]'),
    "Q-6": where(r"\bin\s*[(:]"),
    "Q-7": where(r"\bcontains\s+(?:any|all)\b"),
    "Q-8": where(r"\bis\s+(?:not\s+)?defined\b"),
    "Q-9": where(r"\bis\s+(?:not\s+)?empty\b"),
    "Q-10": where(r"\bis\s+(?:not\s+)?empty\b"),
    "Q-11": where(r"\bmatches\s+ignore\s+case\b"),
    "Q-12": where(r"\b(?:and|or)\b|\bnot\s*\("),
    "Q-13": where(r"\band\b.*\bor\b|\bor\b.*\band\b"),
    "Q-14": where(r"\bnot\s*\("),
    "Q-15": where(r"(?:key|someProperty|arrayOf\w+)\s*(?:!=|<>|not\s+in|is\s+not\s+defined|is\s+empty)"),
    "Q-16": where(rf"{ARRAY}\s*(?:=|in\b)"),
    "Q-17": where(rf"{ARRAY}\s*(?:[<>]|!=|not\s+in|matches)"),
    "Q-18": where(r"objectTypeProperty\s*\("),
    "Q-19": where(r"arrayOfObjectType\s*\("),
    "Q-20": where(""),
    "Q-21": where(r'"'),
    "Q-22": wrong(r"'|\\[^\"\\]"),
    "Q-23": where(r"[<>=(,]\s*-?[0-9]"),
    "Q-24": where(r"(?:version|\w+Example)\s*(?:[<>=!]+)\s*-?[0-9]*(?:\.[0-9]|[0-9]{10}|[0-9]e)"),
    "Q-25": where(r'At\s*(?:[<>=!]+)\s*"[0-9]{4}-[0-9-]+T'),
    "Q-26": where(r'At\s*(?:[<>=!]+)\s*"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:"|T[0-9:.]+")'),
    "Q-27": where(r'\bid\s*(?:=|!=|in\b|<|>)'),
    "Q-28": where(r"\b(?-i:AND|OR|NOT|IN|CONTAINS|ANY|ALL|IS|DEFINED|EMPTY)\b"),
    "Q-29": where(r'\w[=<>]|\bin\('),
    "Q-30": where(r"`"),
    "Q-31": where(r":[A-Za-z0-9]") & par(r"var[.].+"),
    "Q-32": par(r"var[.].*"),
    "Q-33": where(r"\b(?:in|any|all)\s*(?:\(.*)?:[A-Za-z0-9]") & par(r"var[.].+"),
    "Q-34": where(r":[A-Za-z0-9]") & par(r"var[.].+"),
    "Q-35": WITH_WHERE & ~par("where", ":") & par(r"var[.].+") & ok,
    "Q-36": WITH_WHERE & target(r"[?&]var\.[A-Za-z0-9]+=(?:&|$)"),
    "Q-37": wrong("", "Missing parameter value for"),
    "Q-38": wrong(":") & repeated(r"var[.].+"),
    "Q-39": wrong("", "Syntax error while parsing"),
    "Q-40": wrong("", "Syntax error while parsing"),
    "Q-41": wrong(r"^$"),
    "Q-42": wrong("", "does not exist"),
    "Q-43": wrong("", r"Malformed parameter: where: (?!Syntax|Missing|The field '[^']*' does not)"),
    "Q-44": wrong("", "does not support this expression"),
    "Q-45": wrong(r"\({33}|.{16385}|(?:,[^,]*){500}"),
    "Q-46": wrong("", r'"errors":\[\{[^\]]*\},\{'),
    "Q-47": where(r"arrayOfObjectType\s*\("),
    "Q-48": where(r"\b(?:in|any|all)\s*[(:]") | wrong(r"\b(?:in|any|all)\s*[\"0-9]"),
    "Q-49": wrong(r"within\s+circle"),
    "Q-50": wrong(r"\blike\b|\bilike\b|contains\s+\""),
    "Q-51": WITH_VARIABLES & faulty & said("Unknown parameter"),
    "Q-52": wrong("", r"does not exist\. Did you mean"),
}  # fmt: skip

NOT_OBSERVABLE: Mapping[str, str] = {}
