"""Samples of a scrape of ``/metrics``."""

from prometheus_client.parser import text_string_to_metric_families

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(text: str) -> Samples:
    """Every sample of a scrape by its name, without the prefix of the service, and its labels."""
    return {
        (sample.name.removeprefix("sample_resource_"), frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float:
    """The sum of the samples that have this name and, among others, these labels."""
    return sum(number for (other, has), number in found.items() if other == name and has >= frozenset(labels.items()))
