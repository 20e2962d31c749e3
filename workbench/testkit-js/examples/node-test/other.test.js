// Another file, which node --test gives to another process: it uses the same server.

import assert from "node:assert/strict";
import test from "node:test";

import { withProject } from "sample-resource-testkit";

import { MyClient } from "../my-client.js";

test("waits as long as a busy server says", withProject({ resources: 3 }, async (project, t) => {
  await project.rules([{ name: t.name, times: { first: 2 }, status: 503, retryAfter: 1 }]);
  assert.equal((await new MyClient(project.url, project.token).list(2)).count, 2);
  await project.expect("GET", "/resource", { times: 3, query: { limit: "2" } });
}));
