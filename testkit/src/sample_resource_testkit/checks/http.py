"""Methods, conditional requests, encodings: the profile ``http``."""

from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World


@check("H-1", cases=["", "?limit=1", "?stringParameter=%zz"])
def an_answer_to_head_has_no_body(world: World, path: str) -> None:
    world.head(path).expect_empty()
