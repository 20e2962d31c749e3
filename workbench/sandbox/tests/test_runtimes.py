"""The same mistakes give the same findings, whatever runtime makes them and however it uses connections."""

import json
import shutil
import subprocess
from typing import Any

import httpx
import pytest
from tester import Project, Service, wait_for

MISTAKES = {
    "retryBeforeRetryAfter": "retries a 503 at once",
    "staleVersionRepeated": "answers 409 by the same version, after a read",
    "tokenForEachRequest": "fetches a token for each request",
    "unsafeRepetition": "sends a POST again after a lost answer",
    "doubleEncoding": "encodes a key twice",
}


NODE = """
const { base, resources, token, basic, mistake, one } = JSON.parse(process.argv[1]);
const send = async (method, url, { body, bearer = token, headers = {} } = {}) => {
  const answer = await fetch(url, {
    method,
    headers: { Authorization: `Bearer ${bearer}`, ...(body && { "Content-Type": "application/json" }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  return [answer.status, await answer.text()];
};
const granted = async () => {
  const answer = await fetch(`${base}/oauth/token`, {
    method: "POST",
    headers: { Authorization: `Basic ${basic}`, "Content-Type": "application/x-www-form-urlencoded" },
    body: "grant_type=client_credentials",
  });
  return (await answer.json()).access_token;
};
const update = { version: 9, actions: [{ action: "doSomeThing" }] };
const create = { objectTypeProperty: {} };
const mistakes = {
  async retryBeforeRetryAfter() { for (const _ of [1, 2]) await send("GET", `${resources}?limit=0`); },
  async staleVersionRepeated() {
    for (const _ of [1, 2]) { await send("POST", one, { body: update }); await send("GET", one); }
  },
  async tokenForEachRequest() {
    for (const _ of [1, 2, 3]) await send("GET", `${resources}?limit=0`, { bearer: await granted() });
  },
  async unsafeRepetition() {
    await send("POST", resources, { body: create }).catch(() => {});
    await send("POST", resources, { body: create, bearer: await granted() });
  },
  async doubleEncoding() {
    await send("POST", resources, { body: { ...create, key: "my-key" } });
    await send("GET", `${resources}/key=my%252Dkey`);
  },
};
await mistakes[mistake]();
"""


def make_in_node(mistake: str, project: Project) -> None:
    base = f"http://127.0.0.1:{project.service.port}"
    basic = httpx.BasicAuth(project.made["clientId"], project.made["clientSecret"])
    one = project.create(key="one")["id"] if mistake == "staleVersionRepeated" else ""
    rules: dict[str, dict[str, Any]] = {
        "retryBeforeRetryAfter": {"times": {"first": 1}, "status": 503, "retryAfter": 60},
        "unsafeRepetition": {
            "times": {"first": 1}, "match": {"method": "POST"}, "phase": "after", "connection": "close",
        },
    }  # fmt: skip
    if mistake in rules:
        project.rules(rules[mistake])
    given = {
        "base": base,
        "resources": f"{base}{project.resources}",
        "token": project.token,
        "basic": basic._auth_header.removeprefix("Basic "),
        "mistake": mistake,
        "one": f"{base}{project.resources}/{one}",
    }
    node = shutil.which("node")
    assert node is not None
    subprocess.run([node, "--input-type=module", "--eval", NODE, json.dumps(given)], check=True, timeout=60)


def findings_of(project: Project) -> list[str]:
    entries = wait_for(lambda: (found := project.entries()) and not any(each["underWay"] for each in found) and found)
    return [found["id"] for entry in entries for found in entry["findings"]]


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_node(sandbox: Service, mistake: str) -> None:
    """Its fetch sends requests by turns on two connections."""
    project = sandbox.make()
    make_in_node(mistake, project)
    assert findings_of(project) == [mistake]
