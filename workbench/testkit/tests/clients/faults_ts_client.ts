// One call of @commercetools/ts-client while the sandbox makes it fail; workbench/testkit/tests/clients/faults.py runs it.

import { env } from "node:process";
import { ClientBuilder } from "@commercetools/ts-client";

const { BASE_URL = "", PROJECT = "", CLIENT_ID = "", CLIENT_SECRET = "", WRITES = "" } = env;

const client = new ClientBuilder()
  .withProjectKey(PROJECT)
  .withClientCredentialsFlow({
    host: BASE_URL,
    projectKey: PROJECT,
    credentials: { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET },
    scopes: [`manage_test:${PROJECT}`],
    httpClient: fetch,
  })
  .withConcurrentModificationMiddleware()
  .withHttpMiddleware({ host: BASE_URL, httpClient: fetch, enableRetry: true })
  .build();

const uri = `/${PROJECT}/resource`;
const read = { method: "GET", uri: `${uri}?limit=0` } as const;
const write = { method: "POST", uri, body: { key: "faulty", objectTypeProperty: {} } } as const;

for (let calls = Number(env.CALLS ?? 1); calls > 0; calls--) {
  const { body } = await client.execute(WRITES ? write : read);
  if (typeof body !== "object" || body === null || !("total" in body || "version" in body)) throw new Error("no answer");
}
