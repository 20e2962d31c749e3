import { withProject } from "sample-resource-testkit";

import { MyClient } from "../my-client.js";

test("survives an answer that is lost after the commit", withProject(async (project) => {
  await project.rules([{ match: { method: "POST" }, times: { first: 1 }, phase: "after", connection: "reset" }]);
  const resource = await new MyClient(project.url, project.token).create("my-key");
  const sent = await project.expect("POST", "/resource", { times: 2, body: { key: "my-key" } });
  expect(sent.map(({ status }) => status)).toEqual([201, 200]);
  expect(resource.version).toBe(1);
}));

test("waits as long as a busy server says", withProject({ resources: 3 }, async (project) => {
  await project.rules([{ times: { first: 2 }, status: 503, retryAfter: 1 }]);
  expect(await new MyClient(project.url, project.token).list(2)).toMatchObject({ count: 2 });
  await project.expect("GET", "/resource", { times: 3, query: { limit: "2" } });
}));
