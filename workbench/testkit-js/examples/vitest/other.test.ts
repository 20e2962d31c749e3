// Another file, which vitest gives to another worker: it uses the same server.

import { makeProject } from "sample-resource-testkit";
import { expect, test } from "vitest";

import { MyClient } from "../my-client.js";

test("the same ids again", async () => {
  const made: string[] = [];
  for (let turn = 0; turn < 2; turn += 1) {
    const project = await makeProject({ ids: { seed: 7 }, clock: { now: "2030-01-01T00:00:00.000Z", runs: false } });
    const { id } = await new MyClient(project.url, await project.newToken()).create("one");
    made.push(id);
    await project.remove();
  }
  expect(made[0]).toBe(made[1]);
});
