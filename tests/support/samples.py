"""Reads the samples of a scrape of ``/metrics``."""

from prometheus_client.parser import text_string_to_metric_families

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(text: str) -> Samples:
    """The values of all samples of a scrape, by their name without the service's prefix and their labels."""
    return {
        (sample.name.removeprefix("sample_resource_"), frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float:
    """The sum of the samples with a name that have at least the given labels."""
    return sum(number for (other, has), number in found.items() if other == name and has >= frozenset(labels.items()))
