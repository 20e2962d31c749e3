// What a test expects of its client's requests, and what it is told if that is not so: on a server that runs.

import assert from "node:assert/strict";
import test, { before } from "node:test";

import { makeProject, UnexpectedRequests } from "../src/index.js";
import { JournalEntry, told } from "../src/journal.js";

const ACTIONS = { version: 3, actions: [{ action: "publish" }, { action: "changeSomeProperty", someProperty: "x" }] };
const NEW = { key: "one", objectTypeProperty: { arrayOfIntExample: [1, 2] } };

/** @type {import("../src/project.js").SandboxProject} */
let project;

before(async () => {
  project = await makeProject();
  const send = async (request, body, more = {}) => {
    const [method, path] = request.split(" ");
    const headers = { Authorization: `Bearer ${project.token}`, "Content-Type": "application/json", ...more };
    await (await fetch(project.url + path, { method, headers, body: body && JSON.stringify(body) })).text();
  };
  await project.rules([{ times: { first: 1 }, status: 503 }]);
  await send("POST /resource", NEW);
  await send("POST /resource", NEW);
  await send("GET /resource/key=one?optionalQueryParameter=a%20b", undefined, { "If-None-Match": '"1"' });
  await send("POST /resource/0.1", ACTIONS);
  await send("GET /resource?arrayOfString=a&arrayOfString=b&limit=20");
});

for (const [method, path, expected, numbers] of [
  ["POST", "/resource", {}, [1, 2]],
  ["POST", "/resource", { times: 2 }, [1, 2]],
  ["POST", "/resource", { times: [1, null], status: 201 }, [2]],
  ["DELETE", "*", { times: 0, settleMs: 50 }, []],
  ["POST", "/resource/*", { after: 2 }, [4]],
  ["POST", "/resource/0.1", {}, [4]],
  ["POST", "/resource/0x1", { times: 0 }, []],
  ["GET", "/resource/key=one", { query: { optionalQueryParameter: "a b" } }, [3]],
  ["GET", "/resource", { query: { arrayOfString: ["a", "b"], limit: true, sort: false } }, [5]],
  ["GET", "/resource/key=one", { headers: { "if-none-match": '"1"', Accept: true, Prefer: false } }, [3]],
  ["POST", "/resource", { body: { objectTypeProperty: { arrayOfIntExample: [2] } } }, [1, 2]],
  ["POST", "/resource/0.1", { body: "*publish*" }, [4]],
  ["POST", "/resource/0.1", { body: JSON.stringify(ACTIONS) }, [4]],
  ["GET", "/resource", { body: null, withinMs: 60_000 }, [5]],
]) {
  test(`${method} ${path} ${JSON.stringify(expected).slice(0, 60)} fits ${JSON.stringify(numbers)}`, async () => {
    const after = expected.after && (await project.journal()).reverse().slice(0, expected.after);
    const found = await project.expect(method, path, after ? { ...expected, after } : expected);
    assert.deepEqual(found.map(({ number }) => number), numbers);
  });
}

for (const [expected, ...parts] of [
  [{ times: 1 }, "POST /resource was expected once, and was sent 2 times.", "  1: POST /resource -> 503"],
  [{ times: [3, 4] }, "expected 3 to 4 times, and was sent 2 times"],
  [{ body: { key: "two" } }, "  2: POST /resource -> 201", 'body -> key: "two" was expected, and it is "one"'],
]) {
  test(`${JSON.stringify(expected)}: what was sent is told`, async () => {
    await assert.rejects(project.expect("POST", "/resource", expected), (error) => {
      assert.ok(error instanceof UnexpectedRequests);
      for (const part of parts) assert.ok(error.message.includes(part), error.message);
      return true;
    });
  });
}

test("without requests that is told", async () => {
  const made = await makeProject();
  await assert.rejects(made.expect("GET", "/resource/*", { body: { a: 1 } }), /The journal has no request\./);
});

test("an entry that was not carried out has no status", () => {
  const data = { number: 1, request: { method: "GET", target: "/p/resource?a" }, response: null, rule: { number: 0 }, outcome: "no answer (not carried out), no HTTP by rule 0" };
  const made = new JournalEntry(data, "p");
  assert.deepEqual([made.status, made.answered, made.path, made.query], [null, false, "/resource", "a"]);
  assert.equal(told([made]), "1: GET /resource?a -> no answer (not carried out), no HTTP by rule 0");
});
