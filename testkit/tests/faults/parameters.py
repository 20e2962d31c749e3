"""Faults of parameters in general."""

import re
from dataclasses import replace

from planted import Answer, Forward, Request, around, of_requests

NUMBERS = (
    "limit",
    "offset",
    "floatParameter",
    "integerParameter",
    "withMarkdownDescription",
    "fuzzyLevel",
    "queryParameterOne",
    "version",
)

BOOLEANS = ("staged", "withTotal", "fuzzy")

NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


@around("4-4")
def undeclared_parameters_are_ignored(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    unknown = re.findall("Malformed parameter: ([^:]*): Unknown parameter", answer.says)
    return forward(request.without(*unknown)) if unknown else answer


@around("4-5")
def the_last_of_two_values_counts(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    repeated = set(re.findall("Malformed parameter: ([^:]*): The parameter can be given only once", answer.says))
    if not repeated:
        return answer
    kept = [pair for pair in request.parameters if pair[0] not in repeated]
    return forward(request.with_parameters(kept + [(name, request.values(name)[-1]) for name in repeated]))


@of_requests("4-8")
def a_one_is_true(request: Request) -> Request:
    return request.changed(lambda text: {"1": "true", "0": "false"}.get(text, text), *BOOLEANS)


@of_requests("4-9")
def a_number_with_an_exponent_is_refused(request: Request) -> Request:
    return request.changed(lambda text: "x" if "e" in text.lower() else text, *NUMBERS)


@of_requests("4-10")
def numbers_are_read_as_python_does(request: Request) -> Request:
    def read(text: str) -> str:
        try:
            return text if NUMBER.fullmatch(text) else f"{float(text):.0f}"
        except ValueError:
            return text

    return request.changed(read, *NUMBERS)


@of_requests("4-12")
def a_plus_stays_a_plus(request: Request) -> Request:
    return replace(request, query=request.query.replace("+", "%2B"))


@of_requests("4-13")
def bytes_that_are_no_text_are_replaced(request: Request) -> Request:
    return replace(request, query=re.sub("%ff", "%3F", request.query, flags=re.IGNORECASE))


@of_requests("4-11")
def fractions_of_parameters_are_cut_off(request: Request) -> Request:
    return request.changed(lambda text: re.sub(r"\.\d+$", "", text), *NUMBERS)
