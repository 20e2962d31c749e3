// What a test expects of its client's requests, and what it is told if that is not so.

import assert from "node:assert/strict";
import test from "node:test";

import { UnexpectedRequests, verified } from "../src/expected.js";
import { JournalEntry, told } from "../src/journal.js";

const ACTIONS = { version: 3, actions: [{ action: "publish" }, { action: "changeSomeProperty", someProperty: "x" }] };
const NEW = { key: "one", objectTypeProperty: { arrayOfIntExample: [1, 2] } };

const JOURNAL = [
  entry(1, "POST /resource", { body: NEW, status: 503 }),
  entry(2, "POST /resource", { body: NEW, status: 201 }),
  entry(3, "GET /resource/key=one?optionalQueryParameter=a%20b", {
    headers: [["If-None-Match", '"1"'], ["accept", "application/json"]],
  }),
  entry(4, "POST /resource/0-1", { body: ACTIONS, headers: [["If-Match", '"3"']] }),
  entry(5, "GET /resource?arrayOfString=a&arrayOfString=b&limit=20"),
];

function entry(number, request, { body, status = 200, headers = [] } = {}) {
  const [method, target] = request.split(" ");
  const text = body && { text: JSON.stringify(body) };
  const sent = { method, target: `/p${target}`, headers, body: text ?? null };
  return new JournalEntry({ number, request: sent, response: { status, headers: [] }, rule: null }, "p");
}

for (const [method, path, expected, numbers] of [
  ["POST", "/resource", {}, [1, 2]],
  ["POST", "/resource", { times: 2 }, [1, 2]],
  ["POST", "/resource", { times: [1, null], status: 201 }, [2]],
  ["DELETE", /.*/, { times: 0 }, []],
  ["POST", /\/resource\/[0-9-]+/, { after: JOURNAL[1] }, [4]],
  ["GET", "/resource", { after: JOURNAL.slice(0, 3) }, [5]],
  ["GET", "/resource/key=one", { query: { optionalQueryParameter: "a b" } }, [3]],
  ["GET", "/resource/key=one", { query: "optionalQueryParameter=a%20b" }, [3]],
  ["GET", "/resource", { query: { arrayOfString: ["a", "b"], limit: /[0-9]+/g, sort: false } }, [5]],
  ["GET", "/resource", { query: { limit: true } }, [5]],
  ["GET", "/resource/key=one", { headers: { "if-none-match": '"1"', Accept: true, Prefer: false } }, [3]],
  ["POST", "/resource", { body: { key: "one" } }, [1, 2]],
  ["POST", "/resource", { body: { objectTypeProperty: { arrayOfIntExample: [2] } } }, [1, 2]],
  ["POST", "/resource/0-1", { body: { actions: [{ action: "changeSomeProperty" }] } }, [4]],
  ["POST", "/resource/0-1", { body: /publish/ }, [4]],
  ["POST", "/resource/0-1", { body: JSON.stringify(ACTIONS) }, [4]],
  ["GET", "/resource", { body: null }, [5]],
]) {
  test(`${method} ${path} fits ${JSON.stringify(numbers)}`, () => {
    assert.deepEqual(verified(method, path, expected, JOURNAL).map(({ number }) => number), numbers);
  });
}

for (const [method, path, expected, ...parts] of [
  ["PUT", "/resource", {}, "PUT /resource was expected at least once, and was sent 0 times.", "method: PUT"],
  ["POST", "/resource", { times: 1 }, "expected once, and was sent 2 times", "1: POST /resource -> 503"],
  ["POST", "/resource", { times: [3, 4] }, "expected 3 to 4 times, and was sent 2 times"],
  ["POST", "/resource", { times: 0 }, "was expected never, and was sent 2 times"],
  ["GET", "/resource/key=two", {}, "3: GET /resource/key=one", "path: /resource/key=two was expected"],
  ["GET", /\/resource\/key=t.*/, {}, "GET (\\/resource\\/key=t.*) was", "path: a match of \\/resource\\/key=t.* was"],
  ["POST", "/resource", { after: JOURNAL[1] }, "after request 2", "5: GET /resource?"],
  ["GET", "/resource", { after: JOURNAL }, "after request 5", "5: GET /resource?", "it came earlier"],
  ["GET", "/resource", { status: 404 }, "with status 404 was expected", "     status: 404 was expected"],
  ["GET", "/resource", { query: "limit=20" }, 'query: "limit=20" was expected, and it is "arrayOfString=a&'],
  ["GET", "/resource", { query: { sort: "id" } }, 'query -> sort: "id" was expected, and it is not there'],
  ["GET", "/resource", { query: { limit: false } }, 'query -> limit: none was expected, and it is "20"'],
  ["GET", "/resource", { query: { arrayOfString: "a" } }, '"a" was expected, and it is "a", "b"'],
  ["GET", "/resource", { headers: { Prefer: /code=.*/ } }, "header Prefer: a match of code=.*"],
  ["POST", "/resource", { body: { key: "two" } }, 'body -> key: "two" was expected, and it is "one"'],
  ["POST", "/resource", { body: { id: "x" } }, 'body -> id: "x" was expected, and it is not there'],
  ["POST", "/resource/0-1", { body: { version: true } }, "body -> version: true was expected, and it is 3"],
  ["POST", "/resource/0-1", { body: { actions: [{ action: "x" }] } }, 'body -> actions: an item {"action":"x"}'],
  ["POST", "/resource", { body: null }, "body: none was expected"],
  ["GET", "/resource", { body: {} }, "body: JSON was expected, and it is none"],
]) {
  test(`${method} ${path} ${JSON.stringify(expected).slice(0, 60)}: the nearest request is told`, () => {
    assert.throws(
      () => verified(method, path, expected, JOURNAL),
      (error) => {
        assert.ok(error instanceof UnexpectedRequests);
        for (const part of parts) assert.ok(error.message.includes(part), error.message);
        return true;
      },
    );
  });
}

test("without requests that is told", () => {
  assert.throws(() => verified("GET", /\/resource\/.+/, { body: { a: 1 } }, []), /The journal has no request\./);
});

test("an entry that was not carried out has no status", () => {
  const data = { number: 1, request: { method: "GET", target: "/p/resource?a" }, response: null, rule: { number: 0 } };
  const made = new JournalEntry(data, "p");
  assert.deepEqual([made.status, made.answered, made.path, made.query], [null, false, "/resource", "a"]);
  assert.equal(told([made]), "1: GET /resource?a -> no answer (not carried out), by rule 0");
});
