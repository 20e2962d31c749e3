"""What the wheel of the sandbox requires and offers; ``tests/installation`` looks at the rest."""

from tests.installation.archives import archives_in, entry_points_of, metadata_of
from tests.support.built import Built


def test_it_requires_the_service_of_its_version_and_is_found_by_it(built: Built) -> None:
    wheel = archives_in(built("sandbox"))[1]
    metadata = metadata_of(wheel)
    assert metadata.get_all("Requires-Dist") == [f"sample-resource=={metadata['Version']}"]
    assert entry_points_of(wheel) == {
        "sample_resource.extension": {"sandbox": "sample_resource_sandbox.package:SandboxPackage"}
    }
