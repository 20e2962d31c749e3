"""Both searches: texts, filters, facets."""

import re
from functools import cache
from typing import Any

from .expressions import Expression, UnknownPath, parse, values_at
from .fields import document
from .lists import Lists
from .predicates import Fault, Syntax, describe
from .refusals import Entry, Refused, bad_parameter, entry
from .resources import Json, Resource, Shapes
from .values import Parameters, written

TEXT = r"text.[a-z]{2}(-[A-Z]{2})?"

FILTERS = ("filter", "filter.query", "filter.facets")

KINDS = {
    "fuzzy": "boolean",
    "fuzzyLevel": "number",
    "staged": "boolean",
    **dict.fromkeys((*FILTERS, "facet"), "text"),
    "limit": "whole",
    "offset": "whole",
    "withTotal": "boolean",
    "sort": "text",
}

REPEATABLE = frozenset((*FILTERS, "facet", "sort"))

MOST_WORDS, LONGEST_TEXTS, MOST_FACETS, MOST_VALUES, MOST_TERMS = 64, 2_000, 50, 500, 200

STOP_WORDS = {
    "en": frozenset(("a", "an", "and", "are", "in", "is", "it", "of", "on", "or", "the", "to", "with")),
    "de": frozenset(("das", "der", "die", "ein", "eine", "in", "ist", "mit", "oder", "und")),
}

Documents = list[tuple[Resource, dict[str, Any]]]


class Words:
    """Words, their forms, and how alike they are."""

    def split(self, text: str) -> list[str]:
        """The words of a text in lower case."""
        return re.findall(r"\w+", text.lower())

    def stem(self, word: str, language: str) -> str:
        """What the forms of a word have in common."""
        return stem_of(word, language)

    def default_level(self, word: str) -> int:
        """How many edits a word allows."""
        return 0 if len(word) < 3 else 1 if len(word) < 6 else 2

    def is_near(self, one: str, other: str, most: int) -> bool:
        """Whether at most so many edits make one word of the other."""
        if abs(len(one) - len(other)) > most or len(set(one) - set(other)) > most:
            return False
        if self.replacements(one, other) <= most:
            return True
        return most > 0 and any(self.is_near(swapped, other, most - 1) for swapped in self.swapped(one))

    def swapped(self, word: str) -> list[str]:
        """A word with each two neighbours swapped."""
        places = range(len(word) - 1)
        return [f"{word[:place]}{word[place + 1]}{word[place]}{word[place + 2 :]}" for place in places]

    def replacements(self, one: str, other: str) -> int:
        """How many characters have to be added, removed or replaced."""
        row = list(range(len(other) + 1))
        for position, letter in enumerate(one, start=1):
            before, row[0] = row[0], position
            for place, wanted in enumerate(other, start=1):
                before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (letter != wanted))
        return row[-1]

    def relevance(self, word: str, there: list[str], language: str, level: int | None) -> int:
        """3: the word as it is written, 2: another form of it, 1: a word that is alike, 0: none of them."""
        if word in there:
            return 3
        if any(self.stem(word, language) == self.stem(each, language) for each in there):
            return 2
        if level is None:
            return 0
        most = min(level, self.default_level(word))
        return int(any(self.is_near(word, each, most) for each in there))


@cache
def stem_of(word: str, language: str) -> str:
    """A word without the endings that plurals and the like add, in the four languages that the server knows."""
    if language in ("en", "es", "fr"):
        word = re.sub(r"(?<=[^s])s$", "", word)
    if language == "en" and word.endswith("ing") and len(word) > 5:
        word = re.sub(r"(.)\1$", r"\1", word[:-3])
    if language == "de":
        word = re.sub(r"(?<=...)(e|er|en|s)$", "", word.translate(str.maketrans("äöü", "aou")))
    return word


class Search:
    """What searches find and count."""

    def __init__(self, lists: Lists, shapes: Shapes, words: Words) -> None:
        self.lists = lists
        self.shapes = shapes
        self.words = words

    def answer(self, resources: list[Resource], given: Parameters) -> Json:
        """The answer to a search.

        :raises Refused: for faults of its parameters.
        """
        texts = self.texts(given)
        filters = {kind: self.expressions(given, kind, facet=False) for kind in FILTERS}
        facets = self.expressions(given, "facet", facet=True)
        faults = [
            fault for found in (*filters.values(), facets) for fault in found if not isinstance(fault, Expression)
        ]
        faults += self.page_faults(given) + self.text_faults(texts, given) + self.facet_faults(facets, faults)
        if faults:
            raise Refused(400, *faults)
        staged = given.one("staged", False)
        documents = [(each, document(each, staged=staged)) for each in resources]
        level = int(given.one("fuzzyLevel", 2)) if given.one("fuzzy", False) else None
        counted = [pair for pair in documents if self.all_hold(filters["filter.query"], pair[1])]
        relevant = {each.id: self.relevance(found, texts, level) for each, found in counted}
        counted = [pair for pair in counted if relevant[pair[0].id] > 0]
        shown = [pair for pair in counted if self.all_hold(filters["filter"], pair[1])]
        results = self.lists.ordered(shown, given.all("sort"))
        if not given.all("sort"):
            results = self.by_relevance(results, relevant)
        page, part = self.lists.page(results, given)
        page["results"] = [self.shapes.found(each, staged) for each in part]
        if facets:
            page["facets"] = {facet.name: self.facet(facet, counted, filters["filter.facets"]) for facet in facets}
        return page

    # Parameters

    def texts(self, given: Parameters) -> list[tuple[str, str, str]]:
        """Name, language and text of all texts."""
        found = given.matching(TEXT)
        return [(name, name[5:7], text) for name, texts in found.items() for text in texts]

    def text_faults(self, texts: list[tuple[str, str, str]], given: Parameters) -> list[Entry]:
        """What is wrong with texts and ``fuzzyLevel``."""
        faults = [bad_parameter(name, "The value is blank.") for name, _, text in texts if not text.strip()]
        words = [word for _, _, text in texts for word in self.words.split(text)]
        if len(words) > MOST_WORDS or sum(len(text) for _, _, text in texts) > LONGEST_TEXTS:
            faults.append(bad_parameter(texts[0][0], f"Texts may have {MOST_WORDS} words."))
        level = given.one("fuzzyLevel", 0)
        most = self.words.default_level(max(words, key=len, default="longest"))
        if level < 0 or (given.one("fuzzy", False) and int(level) > most):
            faults.append(bad_parameter("fuzzyLevel", f"{level} is not between 0 and {most}, the default."))
        return faults

    def page_faults(self, given: Parameters) -> list[Entry]:
        """What is wrong with the page."""
        return self.lists.page_faults(given)

    def expressions(self, given: Parameters, name: str, *, facet: bool) -> list[Any]:
        """The expressions of a parameter, or entries for those that are wrong."""
        found: list[Any] = []
        for text in given.all(name):
            try:
                found.append(parse(text, facet=facet))
            except Syntax as error:
                told = describe(text, error.position, error.expected)
                found.append(bad_parameter(name, f"Syntax error while parsing '{text}'. {told}"))
            except UnknownPath as error:
                path = re.split(r"[:\s]", text.strip())[0]
                unknown = entry("SearchFacetPathNotFound", f"Facet path {path} not found.")
                found.append(unknown if facet else bad_parameter(name, str(error)))
            except Fault as error:
                found.append(bad_parameter(name, str(error)))
        sizes = [len(each.values) + len(each.ranges) for each in found if isinstance(each, Expression)]
        if sum(sizes) > MOST_VALUES:
            found.append(bad_parameter(name, f"At most {MOST_VALUES} values and ranges are allowed."))
        return found

    def facet_faults(self, facets: list[Any], faults: list[Entry]) -> list[Entry]:
        """What is wrong with the facets together."""
        names = [facet.name for facet in facets if isinstance(facet, Expression)]
        if len(facets) > MOST_FACETS:
            return [bad_parameter("facet", f"At most {MOST_FACETS} facets are allowed.")]
        if not faults and len(set(names)) < len(names):
            return [bad_parameter("facet", "Two facets have the same name.")]
        return []

    # Texts

    def relevance(self, found: dict[str, Any], texts: list[tuple[str, str, str]], level: int | None) -> int:
        """How well a document matches; 0 if it does not, and 1 without texts."""
        there = self.words_of(found) if texts else []
        score = 1
        for _, language, text in texts:
            stop_words = STOP_WORDS.get(language, frozenset())
            words = [word for word in self.words.split(text) if word not in stop_words]
            each = [self.words.relevance(word, there, language, level) for word in words]
            if not self.matches(each):
                return 0
            score += sum(each)
        return score

    def matches(self, relevance: list[int]) -> bool:
        """Whether a document matches a text whose words have this relevance."""
        return bool(relevance) and all(relevance)

    def words_of(self, found: dict[str, Any]) -> list[str]:
        """The words in which texts look."""
        texts = [*found.get("arrayOfStringExample", []), found.get("someProperty", "")]
        return [word for text in texts for word in self.words.split(text)]

    def by_relevance(self, found: list[Resource], relevant: dict[str, int]) -> list[Resource]:
        """The most relevant first; others stay as they are."""
        return sorted(found, key=lambda each: -relevant[each.id])

    # Filters

    def all_hold(self, filters: list[Expression], found: dict[str, Any]) -> bool:
        """Whether all filters hold for a document."""
        return all(self.holds(each, values_at(found, each.path)) for each in filters)

    def holds(self, wanted: Expression, values: list[Any]) -> bool:
        """Whether a filter holds for the values of its field."""
        if wanted.kind in ("exists", "missing"):
            return bool(values) is (wanted.kind == "exists")
        if wanted.kind == "values":
            return any(value in wanted.values for value in values)
        return any(self.within(value, low, high) for value in values for low, high in wanted.ranges)

    def within(self, value: Any, low: Any, high: Any) -> bool:
        """Whether a value is in the range of a filter: both bounds belong to it."""
        return (low is None or value >= low) and (high is None or value <= high)

    # Facets

    def facet(self, facet: Expression, counted: Documents, filters: list[Expression]) -> Json:
        """The result of a facet."""
        others = self.filters_for(facet, filters)
        values = [values_at(found, facet.path) for _, found in counted if self.all_hold(others, found)]
        if facet.kind == "values":
            count = sum(self.holds(facet, each) for each in values)
            return {"type": "filter", "count": count, **self.products(facet, count)}
        if facet.kind == "ranges":
            ranges = [self.range(facet, values, low, high) for low, high in facet.ranges]
            return {"type": "range", "ranges": ranges}
        return self.terms(facet, values)

    def filters_for(self, facet: Expression, filters: list[Expression]) -> list[Expression]:
        """Those of ``filter.facets`` that narrow a facet."""
        return [each for each in filters if each.path != facet.path]

    def products(self, facet: Expression, count: int) -> Json:
        """The member that ``counting products`` adds."""
        return {"productCount": count} if facet.counts_products else {}

    def terms(self, facet: Expression, values: list[list[Any]]) -> Json:
        """The result of a facet that counts terms."""
        counts: dict[Any, int] = {}
        for each in values:
            for value in self.distinct(each):
                counts[value] = counts.get(value, 0) + 1
        ordered = self.ordered_terms(counts)
        listed = ordered[:MOST_TERMS]
        return {
            "type": "terms",
            "dataType": self.data_type(facet),
            "missing": sum(not each for each in values),
            "total": sum(counts.values()),
            "other": sum(count for _, count in ordered[MOST_TERMS:]),
            "terms": [
                {"term": self.term(facet, value), "count": count, **self.products(facet, count)}
                for value, count in listed
            ],
        }

    def distinct(self, values: list[Any]) -> list[Any]:
        """The values of a resource that a facet counts."""
        return list(dict.fromkeys(values))

    def ordered_terms(self, counts: dict[Any, int]) -> list[tuple[Any, int]]:
        """The most frequent first, and of equally frequent ones the smaller first."""
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))

    def data_type(self, facet: Expression) -> str:
        """``dataType`` of a facet."""
        return {"number": "number", "text": "text", "time": "datetime"}[facet.field.kind]

    def term(self, facet: Expression, value: Any) -> Any:
        """A term as answers have it."""
        kind = facet.field.kind
        return float(value) if kind == "number" else written(int(value)) if kind == "time" else value

    def range(self, facet: Expression, values: list[list[Any]], low: Any, high: Any) -> Json:
        """The result of one range."""
        inside = [[value for value in set(each) if self.within_facet(value, low, high)] for each in values]
        every = [value for each in inside for value in each]
        total = sum(every)
        count = sum(bool(each) for each in inside)
        return {
            **self.bound("from", low),
            **self.bound("to", high),
            "count": count,
            **self.products(facet, count),
            "total": total,
            "min": min(every, default=0),
            "max": max(every, default=0),
            "mean": total / len(every) if every else 0,
        }

    def within_facet(self, value: Any, low: Any, high: Any) -> bool:
        """Whether a value is in the range of a facet: the upper bound does not belong to it."""
        return (low is None or value >= low) and (high is None or value < high)

    def bound(self, name: str, value: Any) -> Json:
        """A bound as number and as text."""
        if value is None:
            return {name: 0, f"{name}Str": ""}
        number = int(value) if value == int(value) else value
        return {name: number, f"{name}Str": str(number)}
