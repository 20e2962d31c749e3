// The class that swagger-typescript-api generates, with its client on fetch. All lines but the call of `method` are glue.
import { Api } from "../generated/swagger-typescript-api/api.ts";

import { bodyOf, outcome, placed, serve } from "../protocol.mjs";

function open({ url, token }) {
  return token === null ? undefined : new Api({ baseUrl: url, baseApiParams: { headers: { Authorization: `Bearer ${token}` } } });
}

async function call(client, operation, given, body, { projectKey, timeoutMs }) {
  const { path, query, header } = placed(operation, projectKey, given);
  const method = Object.values(client).map((group) => group?.[operation.id]).find((found) => typeof found === "function");
  const names = /^\(([^)]*)\)|^function\s*\(([^)]*)\)/.exec(method.toString().replace(/\s+/g, " "))?.[1] ?? "";
  const values = { ...path, query, data: bodyOf(operation, body), params: { headers: header, signal: AbortSignal.timeout(timeoutMs) } };
  const order = names.split(",").map((name) => values[name.split("=")[0].trim()]);
  try {
    const response = await method(...order);
    return outcome(operation, response, response.data, response.error);
  } catch (found) {
    if (found instanceof Response) return outcome(operation, found, found.data, found.error);
    throw found;
  }
}

await serve({ client: "swagger-typescript-api", version: process.argv[2] }, open, call);
