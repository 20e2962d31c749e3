"""Methods, conditional requests, encodings: the profile ``http``."""

from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World


@check("H-15", cases=["/sorted-query-parameters?limit=1", "/searchApiPattern?limit=1"])
def head_is_answered_as_get_without_a_body(world: World, path: str) -> None:
    got = world.get(path)
    world.head(path).expect_status(got.status).expect_empty()
