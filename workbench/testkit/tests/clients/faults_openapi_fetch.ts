// One call of openapi-fetch while the sandbox makes it fail; workbench/testkit/tests/clients/faults.py runs it.

import { env } from "node:process";
import createClient from "openapi-fetch";
import type { paths } from "./.work/generated/schema.ts";

const { BASE_URL = "", PROJECT = "", TOKEN = "", WRITES = "" } = env;

const client = createClient<paths>({ baseUrl: BASE_URL, headers: { Authorization: `Bearer ${TOKEN}` } });
const path = { projectKey: PROJECT };

for (let calls = Number(env.CALLS ?? 1); calls > 0; calls--) {
  const { data, error } = WRITES
    ? await client.POST("/{projectKey}/resource", { params: { path }, body: { key: "faulty", objectTypeProperty: {} } })
    : await client.GET("/{projectKey}/resource", { params: { path, query: { limit: 0 } } });
  if (error || data === undefined) throw new Error(JSON.stringify(error));
}
