"""Faults of the searches."""

from typing import Any

from planted import alter, app, fault, wrap
from small_server.fields import document
from small_server.refusals import bad_parameter
from small_server.resources import Resource
from small_server.serving import SmallServer


@fault("S-34")
def a_facet_counts_a_value_twice(server: SmallServer) -> None:
    app(server).search.distinct = lambda values: values


@fault("S-24")
def filter_narrows_facets(server: SmallServer) -> None:
    search = app(server).search

    def facet(method: Any, wanted: Any, counted: Any, filters: Any) -> Any:
        return method(wanted, [pair for pair in counted if search.all_hold(filters_of_results, pair[1])], filters)

    filters_of_results: list[Any] = []

    def expressions(method: Any, given: Any, name: str, *, facet: bool) -> Any:
        found = method(given, name, facet=facet)
        if name == "filter":
            filters_of_results[:] = found
        return found

    wrap(search, "expressions", expressions)
    wrap(search, "facet", facet)


@fault("S-23")
def filter_query_narrows_nothing_that_facets_count(server: SmallServer) -> None:
    search = app(server).search
    everything: list[Any] = []

    def answer(method: Any, resources: list[Resource], given: Any) -> Any:
        everything[:] = [(each, document(each, staged=given.one("staged", False))) for each in resources]
        return method(resources, given)

    wrap(search, "answer", answer)
    wrap(search, "facet", lambda method, wanted, _, filters: method(wanted, everything, filters))


@fault("S-25")
def filter_facets_narrows_its_own_facet(server: SmallServer) -> None:
    app(server).search.filters_for = lambda facet, filters: filters


@fault("S-25")
def filter_facets_narrows_nothing(server: SmallServer) -> None:
    app(server).search.filters_for = lambda facet, filters: []


@fault("S-37")
def the_upper_bound_belongs_to_the_range_of_a_facet(server: SmallServer) -> None:
    search = app(server).search
    search.within_facet = search.within


@fault("S-15")
def the_upper_bound_is_outside_of_the_range_of_a_filter(server: SmallServer) -> None:
    search = app(server).search
    search.within = search.within_facet


@fault("S-17")
def the_bounds_of_a_range_may_be_met_by_two_elements(server: SmallServer) -> None:
    def holds(method: Any, wanted: Any, values: list[Any]) -> bool:
        if wanted.kind != "ranges" or not values:
            return method(wanted, values)
        return any(
            (low is None or max(values) >= low) and (high is None or min(values) <= high) for low, high in wanted.ranges
        )

    wrap(app(server).search, "holds", holds)


@fault("S-31")
def terms_are_in_the_order_of_their_values(server: SmallServer) -> None:
    app(server).search.ordered_terms = lambda counts: sorted(counts.items())


@fault("S-31")
def the_total_of_terms_counts_resources(server: SmallServer) -> None:
    wrap(
        app(server).search,
        "terms",
        lambda method, facet, values: {**method(facet, values), "total": sum(map(bool, values))},
    )


@fault("S-31")
def what_is_missing_is_not_counted(server: SmallServer) -> None:
    wrap(app(server).search, "terms", lambda method, facet, values: {**method(facet, values), "missing": 0})


@fault("S-55")
def terms_of_numbers_have_no_fraction(server: SmallServer) -> None:
    def term(method: Any, facet: Any, value: Any) -> Any:
        made = method(facet, value)
        return int(made) if isinstance(made, float) and made == int(made) else made

    wrap(app(server).search, "term", term)


@fault("S-33")
def all_terms_are_texts(server: SmallServer) -> None:
    app(server).search.data_type = lambda facet: "text"


@fault("S-28")
def facets_are_always_there(server: SmallServer) -> None:
    wrap(app(server).search, "answer", lambda method, *given: {"facets": {}, **method(*given)})


@fault("S-40")
def products_are_not_counted(server: SmallServer) -> None:
    app(server).search.products = lambda facet, count: {}


@fault("S-38")
def the_mean_is_that_of_the_bounds(server: SmallServer) -> None:
    wrap(
        app(server).search,
        "range",
        lambda method, *given: (made := method(*given)) | {"mean": (made["min"] + made["max"]) / 2},
    )


@fault("S-9")
def search_is_always_fuzzy(server: SmallServer) -> None:
    wrap(
        app(server).words,
        "relevance",
        lambda method, word, there, language, level: method(word, there, language, 2 if level is None else level),
    )


@fault("S-10")
def short_words_allow_two_edits(server: SmallServer) -> None:
    app(server).words.default_level = lambda word: 2


@fault("S-2")
def one_word_of_a_text_is_enough(server: SmallServer) -> None:
    app(server).search.matches = any


@fault("S-4")
def texts_look_at_letter_case(server: SmallServer) -> None:
    wrap(app(server).words, "split", lambda method, text: text.split())


@fault("S-5")
def words_have_no_other_forms(server: SmallServer) -> None:
    app(server).words.stem = lambda word, language: word


@fault("S-1")
def texts_look_in_the_array_only(server: SmallServer) -> None:
    wrap(
        app(server).search,
        "words_of",
        lambda method, found: method({name: value for name, value in found.items() if name != "someProperty"}),
    )


@fault("S-44")
def the_most_relevant_come_last(server: SmallServer) -> None:
    app(server).search.by_relevance = lambda found, relevant: sorted(found, key=lambda each: relevant[each.id])


@fault("3-5")
def nothing_has_staged_changes(server: SmallServer) -> None:
    app(server).shapes.has_staged_changes = lambda resource: False


@fault("3-4")
def a_staged_search_shows_the_current_projection(server: SmallServer) -> None:
    wrap(app(server).shapes, "found", lambda method, resource, staged: method(resource, False))


@fault("4.4-5")
def a_result_of_a_search_is_not_flat(server: SmallServer) -> None:
    shapes = app(server).shapes

    def found(method: Any, resource: Resource, staged: bool) -> Any:
        return {**shapes.whole(resource), "hasStagedChanges": method(resource, staged)["hasStagedChanges"]}

    wrap(shapes, "found", found)


@fault("4.14-7")
def a_staged_search_needs_no_scope_of_its_own(server: SmallServer) -> None:
    application = app(server)
    wrap(application, "product_search", lambda method, call: application.get_search(call))


@fault("4.14-2")
def a_search_is_answered_with_201(server: SmallServer) -> None:
    def change(request: Any, made: Any) -> None:
        if request.path.endswith("/product-projection-search") and made.status == 200:
            made.status = 201

    alter(server, change)


@fault("S-56")
def equal_terms_come_in_falling_order(server: SmallServer) -> None:
    app(server).search.ordered_terms = lambda counts: sorted(
        sorted(counts.items(), reverse=True), key=lambda item: -item[1]
    )


@fault("S-10", others=4)
def a_swap_is_two_edits(server: SmallServer) -> None:
    app(server).words.swapped = lambda word: []


@fault("S-12")
def a_level_counts_without_fuzzy(server: SmallServer) -> None:
    search = app(server).search

    def text_faults(method: Any, texts: Any, given: Any) -> Any:
        words = [word for _, _, text in texts for word in search.words.split(text)]
        most = search.words.default_level(max(words, key=len, default="longest"))
        if given.one("fuzzyLevel", 0) > most:
            return [bad_parameter("fuzzyLevel", "It is too high.")]
        return method(texts, given)

    wrap(search, "text_faults", text_faults)
