// Tests of a client in JavaScript that use the image by Testcontainers: node --test testcontainers_node.test.mjs

import assert from "node:assert/strict";
import test, { after, before } from "node:test";

import { SandboxServer } from "sample-resource-testkit";
import { GenericContainer, Wait } from "testcontainers";

const token = "any-text-of-16-characters-or-more";
let service;
let server;

before(async () => {
  service = await new GenericContainer("sample-resource:all-in-one")
    .withEnvironment({ SANDBOX: "on", SANDBOX_TOKEN: token })
    .withExposedPorts(8000)
    .withWaitStrategy(Wait.forHttp("/health/ready", 8000))
    .start();
  server = new SandboxServer(`http://${service.getHost()}:${service.getMappedPort(8000)}`, { token });
});

after(() => service.stop());

test("a busy server is told", async () => {
  const project = await server.makeProject({ resources: 1 });
  await project.rules([{ times: { first: 1 }, status: 503, retryAfter: 0 }]);
  const get = () => fetch(`${project.url}/resource`, { headers: { Authorization: `Bearer ${project.token}` } });
  assert.deepEqual([(await get()).status, (await get()).status], [503, 200]);
  await project.expect("GET", "/resource", { times: 2 });
});
