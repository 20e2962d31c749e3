// What openapi-generator makes with typescript-fetch. All lines but the call of `api` and of its models are glue.
import * as sdk from "../generated/openapi-generator-typescript-fetch/index.ts";

import { BODIES, together } from "../generated_models.mjs";
import { bodyOf, httpError, placed, raised, serve } from "../protocol.mjs";

const RESULTS = {
  listResources: "FlatResourcePage",
  listResourcesSorted: "ResourcePage",
  searchResources: "ProjectionPage",
  searchProductProjections: "ProjectionPage",
  postWithAllOptions: "ObjectType",
  postDescriptionWithLinks: "ObjectType",
};

function open({ url, token }) {
  if (token === null) return undefined;
  const configuration = new sdk.Configuration({ basePath: url, accessToken: token });
  return [sdk.ResourceApi, sdk.SearchApi, sdk.EchoApi].map((Api) => new Api(configuration));
}

/** A body as the model that the client takes. */
function modelOf(operation, body) {
  const name = BODIES[operation.id];
  return name === undefined || body === undefined ? body : sdk[`${name[0].toUpperCase()}${name.slice(1)}FromJSON`](body);
}

async function call(client, operation, given, body, { projectKey, timeoutMs }) {
  const asked = together(operation, placed(operation, projectKey, given), modelOf(operation, bodyOf(operation, body)));
  const api = client.find((each) => operation.id in each);
  const more = async ({ init }) => ({ headers: { ...init.headers, ...asked.headers }, signal: AbortSignal.timeout(timeoutMs) });
  try {
    const response = await api[`${operation.id}Raw`](asked.given, more);
    const status = response.raw.status;
    if (operation.method === "HEAD") return { result: status === 200 };
    const result = await response.value().catch((found) => {
      // What reads an answer raises errors of its own; those of fetch stay what they are.
      const error = raised(found);
      throw error.kind === "other" ? new SyntaxError(error.message) : found;
    });
    return { result: sdk[`${RESULTS[operation.id] ?? "Resource"}ToJSON`](result), meta: { status } };
  } catch (found) {
    if (!(found instanceof sdk.ResponseError)) return { error: raised(found instanceof sdk.FetchError ? found.cause : found) };
    const { status, headers } = found.response;
    if (operation.method === "HEAD" && status === 404) return { result: false };
    return { error: httpError(status, await found.response.json().catch(() => undefined), headers) };
  }
}

await serve({ client: "openapi-generator typescript-fetch", version: process.argv[2] }, open, call);
