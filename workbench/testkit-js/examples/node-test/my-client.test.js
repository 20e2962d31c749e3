import assert from "node:assert/strict";
import test from "node:test";

import { withProject } from "sample-resource-testkit";

import { MyClient } from "../my-client.js";

test("survives an answer that is lost after the commit", withProject(async (project) => {
  await project.rules([{ match: { method: "POST" }, times: { first: 1 }, phase: "after", connection: "reset" }]);
  const resource = await new MyClient(project.url, project.token).create("my-key");
  const sent = await project.expect("POST", "/resource", { times: 2, body: { key: "my-key" } });
  assert.deepEqual(sent.map(({ status }) => status), [201, 200]);
  assert.equal(resource.version, 1);
}));
