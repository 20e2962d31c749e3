"""Attacks on identity: projects of others, forged tokens, endpoints of OAuth."""

from tests.attack.table import Tally, case
from tests.faults.service import Service

GROUP = "identity"

_READS = ("", "?limit=1", "/sorted-query-parameters", "/searchApiPattern?facet=version", "/key=secret")


@case(GROUP, "reads and writes in a project with the token of another: 403, and nothing is changed")
def tenancy(service: Service, tally: Tally) -> None:
    owner, other = service.token("manage_test:mine"), service.token("manage_test:other", "view_products:other")
    made = service.request("POST", "/mine/resource", {"key": "secret", "objectTypeProperty": {}}, owner)
    resource_id = made.json()["id"]
    for path in (*_READS, f"/{resource_id}"):
        answer = service.request("GET", f"/mine/resource{path}", token=other)
        tally.expect(answer.status == 403 and b"secret" not in answer.body.replace(path.encode(), b""), (path, answer))
        tally.expect(service.request("GET", f"/mine/resource{path}").status == 401, path)
    body = {"version": 1, "objectTypeProperty": {"arrayOfIntExample": [1]}, "id": resource_id}
    for method, path, sent in (
        ("POST", "", body),
        ("PUT", "", body),
        ("PATCH", "", body),
        ("POST", f"/{resource_id}", {"version": 1, "actions": [{"action": "doSomeThing"}]}),
        ("DELETE", f"/{resource_id}", None),
    ):
        answer = service.request(method, f"/mine/resource{path}", sent, other)
        tally.expect(answer.status == 403, (method, path, answer))
        # By its id, in the project of the attacker: there it does not exist.
        answer = service.request(method, f"/other/resource{path}", sent, other)
        tally.expect(answer.status == 404, (method, path, answer))
    after = service.request("GET", f"/mine/resource/{resource_id}", token=owner).json()
    tally.expect(after == made.json(), after)
