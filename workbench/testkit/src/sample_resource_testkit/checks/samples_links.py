"""Description with links (4.13)."""

from typing import Any

from sample_resource_testkit.checks.names import LINKS, TEXTS
from sample_resource_testkit.checks.samples_all_options import (
    QUERIES,
    TEXT_CASES,
)
from sample_resource_testkit.checks.samples_record import SAMPLE
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World


@check("4.13-1", cases={"both parameters": QUERIES["both"], "no parameters": {}})
def links_answers_the_date_time_record(world: World, query: dict[str, Any]) -> None:
    answer = world.post(LINKS, {"lastModifiedAt": SAMPLE}, query=query, headers={"Prefer": "code=202"})
    body = answer.expect_success().json
    answer.expect(isinstance(body, dict) and "dateTimeExampleRfc" in body, "the date/time record (2.5)")


@check("4.13-2", needs=["4.13-1"], cases=list(TEXT_CASES))
def texts_of_the_record_arrive(world: World, name: str) -> None:
    query, record, wanted = TEXT_CASES[name]
    answer = world.post(LINKS, record, query=query).expect_status(200)
    if wanted:
        answer.expect_json(TEXTS, wanted)
    else:
        answer.expect_absent(TEXTS)


@check("4.13-3", needs=["4.13-1"], cases=["no header", "code=201", "code=203", "code=204", "code=abc", "a=202"])
def another_code_than_202_is_ignored(world: World, preference: str) -> None:
    # No codes from 400 on, because a sandbox may take these for orders.
    headers = {} if preference == "no header" else {"Prefer": preference}
    answer = world.post(LINKS, {"createdAt": SAMPLE}, headers=headers).expect_status(200)
    answer.expect_no_header("Preference-Applied")
