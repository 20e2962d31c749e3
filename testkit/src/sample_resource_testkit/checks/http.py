"""Methods, conditional requests, encodings: the profile ``http``."""

from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World


@check("H-14", needs=["4.2-1"])
def head_is_answered_as_get_without_a_body(world: World) -> None:
    made = world.make()
    world.head(f"/{made.id}").expect_status(200).expect_empty()
    world.head(f"/{made.id}x").expect_status(404).expect_empty()
