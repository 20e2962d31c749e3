"""The query language: the profile ``query``."""

from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World


@check("Q-39", cases=["version =", "(version = 1", "version ! 1", "and", 'key = "a'])
def a_broken_predicate_is_refused(world: World, predicate: str) -> None:
    world.get("/sorted-query-parameters", query={"where": predicate}).expect_error(400)
