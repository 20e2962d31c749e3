"""What the wheel of the testkit requires and offers; ``tests/installation`` looks at the rest."""

from importlib.metadata import version

from tests.installation.archives import archives_in, entry_points_of, metadata_of
from tests.support.built import Built


def test_it_needs_one_library_and_its_server_is_service_and_sandbox(built: Built) -> None:
    required = metadata_of(archives_in(built("testkit"))[1]).get_all("Requires-Dist") or []
    assert [text for text in required if "extra ==" not in text] == ["h11<0.17,>=0.16"]
    server = {text.partition(";")[0] for text in required if text.endswith('extra == "server"')}
    assert server == {"sample-resource[embedded]", f"sample-resource-sandbox=={version('sample-resource')}"}


def test_command_and_plugin_are_found(built: Built) -> None:
    assert entry_points_of(archives_in(built("testkit"))[1]) == {
        "console_scripts": {"sample-resource-conformance": "sample_resource_testkit.cli:main"},
        "pytest11": {"sample_resource": "sample_resource_testkit.plugin"},
    }
