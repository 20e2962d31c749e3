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


@of_requests("4-9")
def a_number_with_an_exponent_is_refused(request: Request) -> Request:
    return request.changed(lambda text: "x" if "e" in text.lower() else text, *NUMBERS)


@of_requests("4-12")
def a_plus_stays_a_plus(request: Request) -> Request:
    return replace(request, query=request.query.replace("+", "%2B"))
