// The platform's own client for JavaScript; docs/workbench/clients.md shows parts of this file.

import { deepEqual, equal, rejects } from "node:assert/strict";
import { env } from "node:process";
import { ClientBuilder, type Client } from "@commercetools/ts-client";

interface Resource {
  id: string;
  key: string;
  version: number;
  someProperty?: string;
}

const { BASE_URL = "", PROJECT = "", CLIENT_ID = "", CLIENT_SECRET = "" } = env;
const collection = `/${PROJECT}/resource`;

const client: Client = new ClientBuilder()
  .withProjectKey(PROJECT)
  .withClientCredentialsFlow({
    host: BASE_URL,
    projectKey: PROJECT,
    credentials: { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET },
    scopes: [`manage_test:${PROJECT}`, `view_test:${PROJECT}`],
    httpClient: fetch,
  })
  .withConcurrentModificationMiddleware()
  .withHttpMiddleware({ host: BASE_URL, httpClient: fetch, enableRetry: true })
  .build();

async function execute(method: "GET" | "POST" | "PUT" | "DELETE", uri: string, body?: object): Promise<Resource> {
  const { body: answered } = await client.execute<Resource>({ method, uri, ...(body && { body }) });
  if (answered === undefined) throw new Error(`${method} ${uri} answered nothing`);
  return answered;
}

/** After a concurrent update the middleware reads currentVersion from the 409 and sends the update again. */
async function recoverFromConflict(): Promise<void> {
  const pet = await execute("PUT", collection, { key: "sdk-pet", objectTypeProperty: {} });
  const winner = { version: pet.version, actions: [{ action: "doSomeThing" }] };
  await execute("POST", `${collection}/${pet.id}`, winner);

  const late = { version: pet.version, actions: [{ action: "changeSomeProperty", someProperty: "late" }] };
  const updated = await execute("POST", `${collection}/${pet.id}`, late);
  deepEqual([updated.version, updated.someProperty], [pet.version + 2, "late"]);

  const key = encodeURIComponent("sdk-pet");
  equal((await execute("GET", `${collection}/key=${key}`)).version, updated.version);
  await execute("DELETE", `${collection}/${pet.id}?version=${updated.version}`);
}

/** All pages of a list. The client requests each page with the last id of the previous one. */
async function readAllPages(): Promise<void> {
  const keys = [1, 2, 3, 4, 5].map((number) => `page-pet-${number}`);
  for (const key of keys) await execute("PUT", collection, { key, objectTypeProperty: {} });

  const where = encodeURIComponent(`key in (${keys.map((key) => `"${key}"`).join(", ")})`);
  const uri = `${collection}/sorted-query-parameters?limit=2&where=${where}`;
  const found: Resource[] = [];
  const pages = await client.process<{ results: Resource[] }>({ method: "GET", uri }, async (page) => {
    found.push(...(page.body?.results ?? []));
    return page;
  });
  deepEqual(found.map(({ key }) => key).toSorted(), keys);
  equal(pages.length, 3);

  for (const { id } of found) await execute("DELETE", `${collection}/${id}`);
}

/** Error answers become error objects of the client, with the code of the body. */
async function meetRefusals(): Promise<void> {
  await rejects(execute("GET", `${collection}/key=nobody`), {
    statusCode: 404,
    name: "NotFound",
  });
  await rejects(execute("PUT", collection, { objectTypeProperty: { arrayOfIntExample: ["one"] } }), {
    statusCode: 400,
    name: "BadRequest",
    code: "InvalidJsonInput",
  });
}

await recoverFromConflict();
await readAllPages();
await meetRefusals();
