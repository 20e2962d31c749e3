"""A client that tries everything that a journal can show: at least one request for each clause of the specification."""

import http.client
import json
from contextlib import closing, suppress
from typing import Any
from urllib.parse import quote

from tests.support.sandbox import Project
from tests.support.steady_client import SteadyClient

WHERES = (
    'key = "one" and version > 1 or key != "two" and not(version < 5)',
    'key < "x" and key in ("one", "two") and id = "x"',
    'arrayOfStringExample contains any ("dog") and arrayOfIntExample contains all (1, 2)',
    "key is defined and someProperty is not defined and arrayOfIntExample is empty and arrayOfIntExample is not empty",
    'someProperty matches ignore case "X"',
    "arrayOfIntExample = 3 and arrayOfIntExample > 4 and version = 2.5 and version < 1e400",
    "objectTypeProperty(arrayOfIntExample = 3)",
    "arrayOfObjectType(integerExample > 700 and integerExampleInt32 = 1)",
    'createdAt > "2020-01-01T00:00:00.000Z" and createdAt < "2040-01-01"',
    'NOT(key="a") AND `key` in("a","b")',
    'someProperty <> "x" and key = "say \\"x\\""',
)

WRONG_WHERES = (
    "key = 'one'",
    "version >",
    "",
    'colour = "red"',
    'version = "2"',
    "version is empty",
    "(" * 33 + "version = 1" + ")" * 33,
    "within circle(1, 2, 3)",
    'key like "a"',
    'key in "a"',
    "key = :missing",
)

LIST_QUERIES = (
    "stringParameter=dog&integerParameter=3&where=version%3E0",
    "floatParameter=1.5&withMarkdownDescription=2",
    "arrayOfString=a&arrayOfString=&arrayOfStringWithDescription=b+c%20%C3%A9",
    "objectParameter=" + quote('{"arrayOfTwonumbersExample":[5],"arrayOfIntExample":[]}'),
    "objectParameter=" + quote('{"objectTypeProperty":{"arrayOfIntExample":[1]}}'),
    "objectParameter=5",
    "integerParameter=1.5",
    "limit=2e1&sort=key&limit=2",
    "limit=",
    "limit=020",
    "limt=1",
    "arrayOfString=%FF",
    "where=a&where=b&sort=foo",
)

SORTED_QUERIES = (
    "limit=20.0&offset=0&withTotal=false&expand=createdBy&sort=key+DESC&sort=id",
    "limit=20.5",
    "withTotal=True",
    "withTotal=1",
    "sort=foo",
    "expand=foo",
    "sort=id+asc&limit=2",
    "where=" + quote('id > "018cc256-dadc-7974-a455-38540fbe91e9"') + "&sort=id+asc",
    "where=" + quote('key in (:k, "b")') + "&var.k=one&var.k=two&var.unused=1",
    "where=" + quote("key = :k") + "&var.k=",
    "where=" + quote("key = :k") + "&var.k=a&var.k=b",
    "where=" + quote("version > 0") + "&var.k=a",
    "where=x&where=y",
    "where=" + quote('kye = "a"'),
    "var.a-b=1",
)

SEARCH_QUERIES = (
    "text.en=Dogs+the+dog&text.en=cat&facet=arrayOfStringExample&sort=version",
    "text.xx=dogs&fuzzy=true&fuzzyLevel=1",
    "text.de=Hund",
    "text.english=a",
    "text.en=+",
    "text.en=a&fuzzyLevel=2&fuzzy=true",
    "limit=2&filter=" + quote('key:"one","two"') + "&filter=arrayOfIntExample:RANGE(1+to+5)",
    "filter.query=createdAt:range(%222020-01-01T00:00:00Z%22+to+*)&filter.facets=key:exists&facet=version",
    "filter=key:missing&facet=version",
    "filter=createdBy.id:%22x%22",
    "facet=arrayOfIntExample:range(0+to+5)&facet=createdAt:range(*+to+%222030-01-01T00:00:00Z%22)",
    "facet=version:1,2&facet=key+counting+products",
    "facet=key:range(%22a%22+to+%22b%22)",
    "facet=version&facet=version",
    "filter=version:rage(1)",
    "filter=colour:1",
    "facet=colour",
    "filter=version:%222%22",
    "filter=" + quote('key:subtree("a")'),
    "facet=objectTypeProperty",
    "&".join(["facet=version"] * 51),
)

RECORD = {
    "custom": True,
    "version": 3,
    "eleventhPropery": "x",
    "createdAt": "2020-01-01T00:00:00.000Z",
    "lastModifiedAt": "2020-01-02T00:00:00.000Z",
    "createdBy": {"firstName": "A", "lastName": "B"},
}

OBJECTS: tuple[Any, ...] = (
    {},
    {"arrayOfIntExample": [3, 1, 1], "arrayOfStringExample": ["dog", "é"], "arrayOfFloatExample": []},
    {"arrayOfFloatExample": [0.5], "arrayOfTwonumbersExample": [1, 2], "arrayOfUniqueIntExample": [1]},
    {"arrayOfObjectType": [{"integerExample": 777, "integerExampleInt32": 1}], "arrayOfIntExample": [3.0]},
    {"arrayOfObjectType": [{}], "arrayOfUniqueIntExample": [2]},
    {"arrayOfUniqueIntExample": [2, 2.0]},
    {"arrayOfNumberNoDefaultsExample": [12345678901234567890123]},
    {"arrayOfIntExample": [1.5]},
    {"arrayOfIntExample": [12345678901234567890123]},
    {"arrayOfIntExample": ["1"]},
    {"arrayOfStringExample": ["a\0b"]},
    {"arrayOfStringExample": None},
    {"colour": "red"},
    {"arrayOfIntExample": list(range(1500))},
)


def act(client: SteadyClient) -> None:
    """Send all of it."""
    _read_nothing(client)
    _write(client)
    _read(client)
    _sample(client)
    _identify(client)
    _break(client)


def _read_nothing(client: SteadyClient) -> None:
    for path in (
        "",
        "/key=nobody",
        "/key=",
        "/key=NOBODY",
        "/key=key",
        "/a%2Fb",
        "/0188AA00-DADC-7974-A455-38540FBE91E9",
    ):
        client.send("GET", path)
    client.send("HEAD")
    client.send("PUT", "", {"objectTypeProperty": {}})
    client.send("PUT", "", {"objectTypeProperty": {"arrayOfIntExample": [1]}})
    client.send("PATCH", "", {"version": 9, "objectTypeProperty": {}, "key": "nobody"})
    client.send("PATCH", "", {"version": 2, "objectTypeProperty": {}})


def _write(client: SteadyClient) -> None:
    for fields in OBJECTS:
        client.send("POST", "", {"objectTypeProperty": fields})
    one = client.send("POST", "", {"key": "one", "version": 7, "objectTypeProperty": {}}).json
    path = f"/{one['id']}"
    client.send("POST", "", {"key": "one", "objectTypeProperty": {}})
    client.send("POST", "", {"key": "one", "objectTypeProperty": {}})
    client.send("POST", "", {"key": "one", "version": 7, "objectTypeProperty": {}})
    client.send("POST", "", {"key": "two", "objectTypeProperty": {}})
    client.send("POST", "", {"id": one["id"], "key": "two", "objectTypeProperty": {}})
    client.send("POST", "", {"id": one["id"], "objectTypeProperty": {}})
    client.send("POST", "", {"id": "nobody", "objectTypeProperty": {}})
    client.send("POST", "", {"key": "!", "objectTypeProperty": {}})
    client.send("POST", "", {"key": "ok"})
    client.send("POST", "", {"objectTypeProperty": {"arrayOfIntExample": "x", "arrayOfFloatExample": "y"}})
    client.send("POST", "", client.send("GET", path).json)
    client.send("POST", "?staged=true", {"key": "one", "objectTypeProperty": {"arrayOfIntExample": [9]}})
    client.send("POST", "?staged=true", {"key": "staged", "objectTypeProperty": {"arrayOfIntExample": [9]}})
    unnamed = client.send("PUT", "", {"objectTypeProperty": {}}).json
    client.send("DELETE", f"/{unnamed['id']}")
    client.send("PATCH", "", {"version": 1, "objectTypeProperty": {}})
    client.send("PATCH", "", {"key": "one", "objectTypeProperty": {}})
    for _ in range(2):
        client.send("PUT", "", {"key": "put", "objectTypeProperty": {"arrayOfIntExample": [1]}})
    version = client.send("GET", path).json["version"]
    for actions in (
        [{"action": "doSomeThing"}, {"action": "changeSomeProperty", "someProperty": ""}],
        [{"action": "publish"}, {"action": "revertStagedChanges"}],
        [{"action": "changeSomeProperty", "someProperty": "x", "staged": True}],
        [],
    ):
        version = client.send("POST", path, {"version": version, "actions": actions}).json["version"]
    for _ in range(2):
        body = {"version": version, "actions": [{"action": "changeSomeProperty", "someProperty": "same"}]}
        version = client.send("POST", path, body).json["version"]
    client.send("POST", path, {"version": 99, "actions": []})
    client.send("POST", path, {"version": version, "actions": []})
    client.send("POST", path, {"version": 1.5, "actions": []})
    client.send("POST", path, {"version": float(version), "actions": []})
    client.send("POST", path, {"version": "1", "actions": []})
    client.send("POST", path, {"version": version})
    client.send("POST", path, {"version": version, "actions": [{"action": "changeSomeProperty", "someProperty": 5}]})
    client.send("POST", path, {"version": version, "actions": [{"action": "explode"}]})
    client.send("POST", path, {"version": version, "actions": [{"action": "doSomeThing"}] * 501})
    client.send("POST", "/nobody", {"version": 1, "actions": []})
    _precondition(client, path)
    two = client.send("GET", "/key=two").json["id"]
    client.send("DELETE", f"/{two}?version=99")
    client.send("DELETE", f"/{two}?version=1.5")
    client.send("DELETE", f"/{two}")
    client.send("DELETE", f"/{two}")
    client.send("POST", "", {"key": "two", "objectTypeProperty": {}})


def _precondition(client: SteadyClient, path: str) -> None:
    version = client.send("GET", path).json["version"]
    update = {"version": version, "actions": []}
    client.send("POST", path, update, If_Match=f'"{version}", "99"')
    client.send("POST", path, update, If_Match='"99"')
    client.send("POST", path, update, If_Match=f'W/"{version}"')
    client.send("POST", path, update, If_Match=f"{version}")
    client.send("POST", "/nobody", update, If_Match='"1"')
    client.send("PATCH", "", {"key": "one", "objectTypeProperty": {}}, If_Match="*")
    client.send("PUT", "", {"key": "new", "objectTypeProperty": {}}, If_Match='"1"')
    client.send("PUT", "", {"key": "new", "objectTypeProperty": {}}, If_None_Match="*")
    version = client.send("GET", path).json["version"]
    client.send("GET", path, If_None_Match=f'"{version}"')
    client.send("GET", path, If_Match='"99"')


def _read(client: SteadyClient) -> None:
    for query in LIST_QUERIES:
        client.send("GET", f"?{query}")
        client.send("HEAD", f"?{query}")
    for text in (*WHERES, *WRONG_WHERES):
        client.send("GET", f"/sorted-query-parameters?where={quote(text)}")
    for query in SORTED_QUERIES:
        client.send("GET", f"/sorted-query-parameters?{query}")
    for query in SEARCH_QUERIES:
        client.send("GET", f"/searchApiPattern?{query}")
    client.form("/product-projection-search?limit=1", "text.en=dog&staged=true")
    client.form("/product-projection-search", "colour=red")
    client.form("/product-projection-search", "")
    client.send("POST", "/product-projection-search", {})
    one = client.send("GET", "/key%3D%6Fne").json["id"]
    client.send("GET", f"/{one.upper()}?optionalQueryParameter=x")
    client.send("HEAD", f"/{one}")
    client.send("GET", f"/{one}", Accept="text/html", Content_Type="application/json", X_Correlation_ID="my-app/0123")


def _sample(client: SteadyClient) -> None:
    path = "/artificially-complex/path/uri-parameter-one="
    client.send("POST", f"{path}a%2Fb/two?queryParameterOne=0.5", RECORD, Prefer="code=203")
    client.send("POST", f"{path}/two", {}, Accept="application/x-www-form-urlencoded")
    client.send("POST", f"{path}%FF/two", {"eighthProperty": 1})
    client.send("POST", f"{path}%FF/two", {})
    client.send("POST", f"{path}a/two", {"eighthProperty": 1})
    client.send("POST", "/description-with-urn-links", RECORD, Prefer="code=202", Accept="text/html")
    client.send("POST", "/description-with-urn-links", RECORD)


def _identify(client: SteadyClient) -> None:
    made, collection = client.project.made, client.project.resources
    token = client.token
    client.target("POST", collection)
    client.target("GET", collection, Authorization="Bearer nonsense")
    client.target("GET", collection, Authorization=f"bearer {token}")
    client.grant()
    credentials = f"client_id={made['clientId']}&client_secret={made['clientSecret']}"
    narrow = f"scope=view_test:{client.project.key}&refresh_token=false"
    for body in (
        f"{credentials}&grant_type=client_credentials&{narrow}",
        f"{credentials}&grant_type=client_credentials&scope=nonsense",
        f"{credentials}&grant_type=client_credentials&scope=manage_test:other",
        f"{credentials}&grant_type=password",
        f"{credentials}&grant_type=a&grant_type=b",
        credentials,
        f"client_id={made['clientId']}&client_secret=wrong&grant_type=client_credentials",
    ):
        answer = client.target("POST", "/oauth/token", body.encode(), Content_Type="application/x-www-form-urlencoded")
        if answer.status == 200:
            narrowed = {"Authorization": f"Bearer {answer.json['access_token']}"}
            client.target("POST", collection, b"{}", Content_Type="application/json", **narrowed)
    form = "application/x-www-form-urlencoded"
    client.target("POST", "/oauth/token?grant_type=client_credentials", credentials.encode(), Content_Type=form)


def _break(client: SteadyClient) -> None:
    project = client.project
    for body in (
        b"nonsense",
        b'{"objectTypeProperty": NaN}',
        b'{"key": "a", "key": "b"}',
        b'{"objectTypeProperty": "\xff"}',
    ):
        _raw(client, body)
    _raw(client, b"{}", Content_Type="text/plain")
    _raw(client, b'{"objectTypeProperty": {}, "key": "' + b"x" * 2_200_000 + b'"}')
    client.send("POST", "", {"objectTypeProperty": {"arrayOfIntExample": ["x"] * 60}})
    client.send("POST", "", {"objectTypeProperty": {"arrayOfTwonumbersExample": [1], "arrayOfIntExample": [1e300]}})
    client.send("GET", f"/{'x' * 9000}")
    for method, path in (("DELETE", "/searchApiPattern"), ("OPTIONS", ""), ("PUT", "/key=one")):
        client.send(method, path)
    for path in (f"/{project.key}//resource", f"/{project.key}/resource/", f"/{project.key}/nothing"):
        client.target("GET", path, Authorization=f"Bearer {client.token}")
    with closing(http.client.HTTPConnection("127.0.0.1", project.service.port, timeout=30)) as connection:
        headers = {"Authorization": f"Bearer {client.token}", "Content-Type": "application/json"}
        body = json.dumps({"objectTypeProperty": {}}).encode()
        connection.request("POST", project.resources, iter([body]), headers, encode_chunked=True)
        connection.getresponse().read()
    project.rules({"status": 503, "retryAfter": 1})
    client.send("GET")
    project.rules({"status": 500, "match": {"method": "OPTIONS"}})


def _raw(client: SteadyClient, body: bytes, **headers: str) -> None:
    sent = {"Authorization": f"Bearer {client.token}", "Content_Type": "application/json", **headers}
    with suppress(OSError):
        client.target("POST", client.project.resources, body, **sent)


def made_by(project: Project) -> dict[str, list[int]]:
    """What the report says of each clause: the requests that have exercised it."""
    clauses = project.order("GET", "/report").json["specification"]["clauses"]
    return {each["number"]: each["requests"] for each in clauses}
