"""DELETE of a resource (interface 4.11)."""

from tests.support.api import Api, send_concurrently


def test_of_concurrent_deletes_one_is_200_and_the_others_are_404(api: Api) -> None:
    created = api.create()
    answers = send_concurrently(8, lambda _: api.delete(f"/{created['id']}?version=1"))
    assert sorted(answer.status_code for answer in answers) == [200] + [404] * 7
