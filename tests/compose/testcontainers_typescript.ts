// The lines of docs/clients.md for Testcontainers in TypeScript.

import { GenericContainer, Wait } from "testcontainers";

const service = await new GenericContainer("sample-resource:all-in-one")
  .withExposedPorts(8000)
  .withWaitStrategy(Wait.forHttp("/health/ready", 8000))
  .start();

const url = `http://${service.getHost()}:${service.getMappedPort(8000)}`;
const made = await service.exec(["sample-resource", "token", "--scope", "manage_test:demo"]);
const headers = { Authorization: `Bearer ${made.stdout.trim()}` };
const answer = await fetch(`${url}/demo/resource`, { headers });

console.log(answer.status, await answer.text());
await service.stop();
