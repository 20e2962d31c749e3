// openapi-fetch on the types that openapi-typescript generates; docs/workbench/clients.md shows parts of this file.

import { deepEqual, equal } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { env } from "node:process";
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./.work/generated/schema.ts";

type Resource = components["schemas"]["Resource"];

const { BASE_URL = "", PROJECT = "", CLIENT_ID = "", CLIENT_SECRET = "" } = env;
const projectKey = PROJECT;

/** A query string: an array becomes a repeated parameter, an object such as var.<name> one parameter for each member. */
function exploded(fields: Record<string, unknown> = {}): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    const isFamily = typeof value === "object" && value !== null && !Array.isArray(value);
    for (const [key, given] of Object.entries(isFamily ? value : { [name]: value })) {
      for (const item of [given].flat()) if (item !== undefined) pairs.append(key, String(item));
    }
  }
  return pairs.toString();
}

/** The body of a successful answer; any other is thrown as an Error. */
function done<Body>(answer: { data?: Body; error?: unknown; response: Response }): Body {
  if (answer.data === undefined) throw new Error(`${answer.response.status} ${JSON.stringify(answer.error)}`);
  return answer.data;
}

async function connected(): Promise<Client<paths>> {
  const client = createClient<paths>({ baseUrl: BASE_URL, querySerializer: exploded });
  const token = done(
    await client.POST("/oauth/token", {
      headers: {
        Authorization: `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString("base64")}`,
        "Content-Type": "application/x-www-form-urlencoded",
      },
      body: { grant_type: "client_credentials" },
      bodySerializer: exploded,
    }),
  );
  client.use({
    onRequest: ({ request }) => request.headers.set("Authorization", `Bearer ${token.access_token}`),
  });
  return client;
}

async function write(client: Client<paths>): Promise<Resource> {
  const created = done(
    await client.POST("/{projectKey}/resource", {
      params: { path: { projectKey } },
      body: {
        key: "typescript-pet",
        objectTypeProperty: { arrayOfStringExample: ["cat"], arrayOfIntExample: [1, 2] },
      },
    }),
  );
  const read = done(
    await client.GET("/{projectKey}/resource/key={key}", { params: { path: { projectKey, key: "typescript-pet" } } }),
  );
  deepEqual(read, created);

  const update = {
    params: { path: { projectKey, id: created.id } },
    body: {
      version: created.version,
      actions: [{ action: "changeSomeProperty" as const, someProperty: "new" }, { action: "doSomeThing" as const }],
    },
  };
  const updated = done(await client.POST("/{projectKey}/resource/{id}", update));
  deepEqual([updated.version, updated.someProperty], [created.version + 1, "new"]);

  const late = await client.POST("/{projectKey}/resource/{id}", update);
  equal(late.response.status, 409);
  equal(late.error?.errors[0]?.currentVersion, updated.version);
  return updated;
}

async function readLists(client: Client<paths>, pet: Resource): Promise<void> {
  const flat = done(
    await client.GET("/{projectKey}/resource", {
      params: {
        path: { projectKey },
        query: {
          arrayOfString: ["cat"],
          arrayOfStringWithDescription: ["bird", "cat"],
          objectParameter: JSON.stringify({ arrayOfIntExample: [2] }),
          limit: 5,
        },
      },
    }),
  );
  deepEqual(flat.results.map(({ id, arrayOfIntExample }) => [id, arrayOfIntExample]), [[pet.id, [1, 2]]]);

  const page = done(
    await client.GET("/{projectKey}/resource/sorted-query-parameters", {
      params: {
        path: { projectKey },
        query: {
          where: ["arrayOfStringExample contains any :words", "key = :key"],
          "var.<name>": { "var.words": ["dog", "cat"], "var.key": ["typescript-pet"] },
          sort: ["createdAt desc", "id"],
          expand: ["createdBy"],
        },
      },
    }),
  );
  deepEqual([page.total, page.results[0]?.id, page.results[0]?.createdBy.obj?.name], [1, pet.id, env.CLIENT_NAME]);

  const head = await client.HEAD("/{projectKey}/resource", {
    params: { path: { projectKey }, query: { stringParameter: "unicorn" } },
  });
  equal(head.response.status, 404);
}

/** Full text, a filter and a facet, by the query string and by a form. */
async function search(client: Client<paths>, pet: Resource): Promise<void> {
  const byQuery = done(
    await client.GET("/{projectKey}/resource/searchApiPattern", {
      params: {
        path: { projectKey },
        query: {
          "text.<language>": { "text.en": ["cats"] },
          filter: ["arrayOfIntExample:range(1 to 5)"],
          facet: ["arrayOfStringExample as words"],
        },
      },
    }),
  );
  deepEqual(byQuery.results.map(({ id }) => id), [pet.id]);
  const words = byQuery.facets?.["words"];
  deepEqual(words?.type === "terms" && words.terms, [{ term: "cat", count: 1 }]);

  const byForm = done(
    await client.POST("/{projectKey}/resource/product-projection-search", {
      params: { path: { projectKey } },
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: {
        "text.<language>": { "text.en": ["cut"] },
        fuzzy: true,
        staged: true,
        "filter.query": ["key:exists", "version:range(1 to *)"],
      },
      bodySerializer: exploded,
    }),
  );
  deepEqual(byForm.results.map(({ id }) => id), [pet.id]);
}

async function remove(client: Client<paths>, pet: Resource): Promise<void> {
  const params = { path: { projectKey, id: pet.id } };
  const query = { version: pet.version };
  done(await client.DELETE("/{projectKey}/resource/{id}", { params: { ...params, query } }));
  equal((await client.GET("/{projectKey}/resource/{id}", { params })).response.status, 404);
}

const client = await connected();
const pet = await write(client);
await readLists(client, pet);
await search(client, pet);
await remove(client, pet);
