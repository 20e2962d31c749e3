// Projects on a server that runs: SAMPLE_RESOURCE_URL names it.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import test from "node:test";

import { makeProject, SandboxError, SandboxServer, startServer, withProject } from "../src/index.js";
import { projectFixture } from "../src/vitest.js";

async function create(project, key) {
  const headers = { Authorization: `Bearer ${project.token}`, "Content-Type": "application/json" };
  const body = JSON.stringify({ key, objectTypeProperty: {} });
  return (await fetch(`${project.url}/resource?x`, { method: "POST", headers, body })).status;
}

async function listed(project) {
  const headers = { Authorization: `Bearer ${project.token}` };
  const answer = await fetch(`${project.url}/resource/sorted-query-parameters?sort=id`, { headers });
  return (await answer.json()).results;
}

test("rules act and are counted", withProject(async (project) => {
  await project.rules([{ times: { first: 2 }, status: 503 }]);
  assert.deepEqual([await create(project, "a"), await create(project, "b"), await create(project, "c")], [503, 503, 400]);
  assert.deepEqual(await project.ruleCounts(), [{ matched: 3, acted: 2 }]);
  await project.rules([]);
  assert.deepEqual(await project.ruleCounts(), []);
  await assert.rejects(project.rules([{ times: "often" }]), /rules -> 0 -> times/);
}));

test("the journal is narrowed", withProject(async (project) => {
  await create(project, "one");
  const headers = { Authorization: `Bearer ${await project.newToken("view_test")}` };
  for (const path of ["/resource", "/resource/key=a%2Fb"]) await fetch(project.url + path, { headers });
  const entries = await project.journal();
  assert.deepEqual(entries.map(({ method, path, status }) => `${method} ${path} ${status}`), [
    "GET /resource/key=a%2Fb 404",
    "GET /resource 200",
    "POST /oauth/token 200",
    "POST /resource 400",
  ]);
  const created = entries[3];
  assert.deepEqual([created.query, created.answered, created.rule], ["x", true, null]);
  assert.deepEqual(JSON.parse(created.body), { key: "one", objectTypeProperty: {} });
  assert.match(created.errors[0], /^InvalidInput: Malformed parameter/);
  const numbers = async (only) => (await project.journal(only)).map(({ number }) => number);
  assert.deepEqual(await numbers({ method: "GET" }), [4, 3]);
  assert.deepEqual(await numbers({ path: "/resource" }), [3, 1]);
  assert.deepEqual(await numbers({ path: "/resource/key=*" }), [4]);
  assert.deepEqual(await numbers({ status: 400 }), [1]);
  assert.deepEqual(await numbers({ operationId: "createOrUpdateResource" }), [1]);
  assert.equal((await project.har()).log.entries.length, 4);
}));

test("a lost answer has the status that was withheld", withProject(async (project) => {
  await project.rules([{ name: "lost", phase: "after", connection: "close" }]);
  await assert.rejects(create(project, "one"));
  const [entry] = await project.journal();
  assert.deepEqual([entry.status, entry.answered], [400, false]);
  assert.equal(String(entry), "1: POST /resource?x -> no answer (400), connection closed by rule `lost`");
}));

test("a reset brings back the beginning", withProject({ resources: 2 }, async (project) => {
  const first = await listed(project);
  const headers = { Authorization: `Bearer ${project.token}` };
  await fetch(`${project.url}/resource/${first[0].id}`, { method: "DELETE", headers });
  await project.reset({ keep: ["requests"] });
  assert.deepEqual(await listed(project), first);
  assert.equal((await project.journal()).length, 3);
}));

test("the clock expires tokens", withProject({ scope: "view_test manage_test" }, async (project) => {
  await project.clock({ offsetSeconds: 172_860 });
  assert.equal(await create(project, "one"), 401);
  await project.clock();
  assert.equal(await create(project, "one"), 400);
  for (const now of ["2030-01-01T00:00:00.000Z", new Date("2030-01-01")]) {
    await project.clock({ now, runs: false });
    assert.equal(await create(project, "one"), 401);
  }
}));

test("ids repeat", withProject(async (project) => {
  await project.ids(7);
  await project.ids();
  await assert.rejects(project.newToken("nonsense"), /the token endpoint answered 400/);
}));

test("a removed project is gone", async () => {
  const project = await makeProject();
  await project[Symbol.asyncDispose]();
  await project.remove();
  await assert.rejects(project.journal(), (error) => error instanceof SandboxError && /404/.test(error.message));
});

test("all projects are one run, which is judged", async () => {
  const server = await startServer();
  const project = await server.makeProject();
  const headers = { Authorization: `Bearer ${project.token}` };
  await fetch(`${project.url}/resource?withTotal=True`, { headers });
  assert.deepEqual((await project.findings()).map(({ id }) => id), ["booleanInOtherCase"]);
  assert.equal(project.run, server.run);
  const { passed, told } = await server.verdict();
  assert.equal(passed, false);
  assert.match(told, new RegExp(`^FAILED\\. Run ${server.run}: `));
  assert.match(told, new RegExp(`booleanInOtherCase, (once|.* times): .*\\n(  request .*\\n)*  request 1 of ${project.key}, GET`));
  assert.doesNotMatch((await server.verdict({ allow: ["booleanInOtherCase"] })).told, /booleanInOtherCase/);
  await project.remove();
  const other = await startServer({ run: "of-its-own" });
  assert.equal((await other.makeProject()).run, "of-its-own");
  await assert.rejects(new SandboxServer(other.url).verdict(), /belong to no run/);
});

test("a failure says what the client sent, also if it is no error", async () => {
  const failing = (error) => withProject(async (project, ...rest) => {
    await create(project, "one");
    assert.deepEqual(rest, ["given"]);
    throw error;
  })("given");
  const cause = new Error("expected $& more");
  const thrown = await failing(cause).catch((error) => error);
  assert.equal(thrown, cause);
  for (const text of [thrown.message, thrown.stack]) {
    assert.match(text, /expected \$& more\n\nrequests to http:\/\/\S+\n1: POST \/resource\?x -> 400\n {5}InvalidInput: /);
  }
  await assert.rejects(failing("text"), (error) => /^text\n\nrequests to/.test(error.message) && error.cause === "text");
});

test("a project that cannot be removed does not replace what a test threw", async () => {
  const failing = withProject(async (project) => {
    project.remove = () => Promise.reject(new Error("the server has gone"));
    throw new Error("expected");
  });
  await assert.rejects(failing(), /^Error: expected\n/);
  const broken = withProject(async (project) => {
    project.remove = () => Promise.reject(new Error("the server has gone"));
  });
  await assert.rejects(broken(), /the server has gone/);
});

test("the fixture of vitest does the same", async () => {
  const task = { result: { errors: [] } };
  let used;
  await projectFixture({ resources: 1 })({ task }, async (project) => {
    used = project;
    assert.equal((await listed(project)).length, 1);
    task.result.errors.push(new Error("wrong"));
  });
  assert.match(task.result.errors[0].message, /^wrong\n\nrequests to \S+\n1: GET /);
  await assert.rejects(used.journal(), /404/);
});

for (const [call, told] of [
  [(project) => project.expect("GET", "/resource", { header: { A: "b" }, time: 7 }), "expect has no option header: it has times, after, status, query, headers, body, withinMs, settleMs"],
  [(project) => project.journal({ methd: "POST" }), "journal has no option methd: it has method, path, status, operationId"],
  [(project) => project.reset({ kep: ["rules"] }), "reset has no option kep: it has keep"],
  [async () => (await startServer()).verdict({ alow: [] }), "verdict has no option alow: it has allow"],
  [() => startServer({ ran: "one" }), "startServer has no option ran: it has run"],
  [async () => new SandboxServer("http://a", { tokn: "one" }), "SandboxServer has no option tokn: it has token, run"],
]) {
  test(told, withProject(async (project) => {
    await assert.rejects(call(project), { name: "TypeError", message: told });
  }));
}

for (const url of ["", "localhost:8000", "ftp://a"]) {
  test(`${JSON.stringify(url)} is no URL of a server`, () => {
    assert.throws(() => new SandboxServer(url), /is no URL/);
  });
}

test("a server that is not there is told", async () => {
  await assert.rejects(new SandboxServer("http://127.0.0.1:1").makeProject(), /POST http.* was not answered: .*ECONNREFUSED/);
});

test("a redirect is told and not followed", async (context) => {
  const received = [];
  const server = createServer((request, answer) => {
    received.push(request.url);
    answer.writeHead(307, { Location: "/elsewhere" }).end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => server.close());
  const { port } = server.address();
  await assert.rejects(new SandboxServer(`http://127.0.0.1:${port}`).makeProject(), /was answered 307/);
  assert.deepEqual(received, ["/sandbox/projects"]);
});
