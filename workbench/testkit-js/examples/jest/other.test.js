// Another file, which jest gives to another worker: it uses the same server.

import { makeProject } from "sample-resource-testkit";

import { MyClient } from "../my-client.js";

/** @type {import("sample-resource-testkit").SandboxProject} */
let project;

beforeEach(async () => {
  project = await makeProject({ resources: 2 });
});

afterEach(() => project.remove());

test("a reset brings back what was there", async () => {
  const client = new MyClient(project.url, project.token);
  await client.create("one");
  expect(await client.list(10)).toMatchObject({ count: 3 });
  await project.reset();
  expect(await client.list(10)).toMatchObject({ count: 2 });
});
