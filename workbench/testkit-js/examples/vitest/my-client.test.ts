import { projectFixture } from "sample-resource-testkit/vitest";
import { expect, test as base } from "vitest";

import { MyClient } from "../my-client.js";

const test = base.extend({ project: projectFixture({ resources: 3 }) });

test("survives an answer that is lost after the commit", async ({ project }) => {
  await project.rules([{ match: { method: "POST" }, times: { first: 1 }, phase: "after", connection: "reset" }]);
  const resource = await new MyClient(project.url, project.token).create("my-key");
  const sent = await project.expect("POST", "/resource", { times: 2, body: { key: "my-key" } });
  expect(sent.map(({ status }) => status)).toEqual([201, 200]);
  expect(resource.version).toBe(1);
});

test("waits as long as a busy server says", async ({ project }) => {
  await project.rules([{ times: { first: 2 }, status: 503, retryAfter: 1 }]);
  const page = await new MyClient(project.url, project.token).list(2);
  expect(page.count).toBe(2);
  await project.expect("GET", "/resource", { times: 3, query: { limit: "2" } });
  expect(await project.findings()).toEqual([]);
});

test.concurrent("an expired token is refused", async ({ project }) => {
  await project.clock({ offsetSeconds: 172_860 });
  expect(await new MyClient(project.url, project.token).list(1)).toMatchObject({ statusCode: 401 });
});
