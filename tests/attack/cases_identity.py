"""Attacks on identity: projects of others, forged tokens, endpoints of OAuth."""

import base64
import json
import time

from joserfc import jwt
from joserfc.jwk import ECKey, OctKey

from tests.attack.table import Tally, case
from tests.faults.check_abuse import posted
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


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


@case(GROUP, "forged tokens: 401")
def forged_tokens(service: Service, tally: Tally) -> None:
    good = service.token("manage_test:demo")
    head, payload, signature = good.split(".")
    published = service.request("GET", "/.well-known/jwks.json").json()["keys"][0]
    header, claims = (json.loads(base64.urlsafe_b64decode(part + "==")) for part in (head, payload))
    mine = ECKey.generate_key("P-256", {"kid": published["kid"]})
    now = int(time.time())
    forged = [
        f"{_encoded({**header, 'alg': alg})}.{payload}." for alg in ("none", "None", "NONE", "", "HS256", "ES256")
    ]
    forged += [
        f"{_encoded({**header, 'alg': alg})}.{payload}.{signature}" for alg in ("HS256", "RS256", "ES384", "EdDSA")
    ]
    forged += [
        f"{_encoded({**header, **more})}.{payload}.{signature}"
        for more in (
            {"jwk": mine.as_dict(private=False)}, {"jku": "http://127.0.0.1:1/k"}, {"x5u": "http://127.0.0.1:1/k"},
            {"crit": ["b64"], "b64": False}, {"kid": ""}, {"kid": "../../etc/passwd"}, {"kid": ["a"]}, {"kid": None},
            {"typ": "JWT"}, {"kid": "' OR 1=1 --"}, {"alg": ["ES256"]}, {"kid": published["kid"] + "x"},
        )
    ]  # fmt: skip
    forged += [
        f"{head}.{_encoded({**claims, **more})}.{signature}"
        for more in (
            {"scope": "manage_test:demo view_test:other"}, {"exp": now + 10**9}, {"client_id": "root"}, {"iss": "x"},
            {"aud": "x"}, {"exp": 1e400}, {"exp": "never"}, {"nbf": now + 9999}, {"jti": "other"},
        )
    ]  # fmt: skip
    for header_of_mine in (header, {**header, "jwk": mine.as_dict(private=False)}, {**header, "typ": "JWT"}):
        forged.append(jwt.encode(header_of_mine, claims, mine, algorithms=["ES256"]))
    as_secret = OctKey.import_key(json.dumps(published, separators=(",", ":")))
    forged.append(jwt.encode({**header, "alg": "HS256"}, claims, as_secret, algorithms=["HS256"]))
    forged += [
        f"{head}.{payload}",
        f"{good}.",
        f".{good}",
        good[:-1],
        good + "A",
        good.swapcase(),
        "a.b.c",
        "..",
        "A" * 9000,
    ]
    tally.expect(service.request("GET", "/demo/resource?limit=1", token=good).status == 200, "the good token")
    for token in forged:
        if token != good:
            answer = service.request("GET", "/demo/resource?limit=1", token=token)
            tally.expect(answer.status in (401, 431), (token[:200], answer))


@case(GROUP, "introspection of a token of other projects, by the credentials of a client: nothing is told")
def introspection(service: Service, tally: Tally) -> None:
    project = service.request("POST", "/sandbox/projects", {}).json()
    basic = base64.b64encode(f"{project['clientId']}:{project['clientSecret']}".encode()).decode()
    for scopes in (("manage_test:demo",), ("view_test:demo", f"view_test:{project['projectKey']}"), ()):
        status, text, _ = posted(
            service,
            "/oauth/introspect",
            f"token={service.token(*scopes)}".encode(),
            {"Authorization": f"Basic {basic}", "Content-Type": "application/x-www-form-urlencoded"},
        )
        tally.expect((status, json.loads(text)) == (200, {"active": False}), (scopes, status, text))
