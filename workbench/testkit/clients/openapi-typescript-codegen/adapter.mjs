// What openapi-typescript-codegen generates, with its client on fetch, as tsc compiles it. All lines but the call of a
// service are glue. Its settings are those of the whole program, and are read when a call begins.
import api from "../generated/openapi-typescript-codegen/index.js";

import { bodyOf, camel, httpError, placed, raised, serve } from "../protocol.mjs";

const SERVICES = Object.values(api).filter((each) => typeof each === "function" && each.name.endsWith("Service"));

function open({ token }) {
  return token === null ? undefined : {};
}

function failed(error) {
  if (error instanceof api.CancelError) return { kind: "timeout", message: error.message };
  // The client shows no headers of an answer.
  return error instanceof api.ApiError ? httpError(error.status, error.body, new Headers()) : raised(error);
}

async function call(_, operation, given, body, { url, token, projectKey, timeoutMs }) {
  const { path, query, header } = placed(operation, projectKey, given);
  const { Accept, ...headers } = header;
  Object.assign(api.OpenAPI, { BASE: url, TOKEN: token, HEADERS: Accept && { Accept } });
  const named = Object.fromEntries(Object.entries({ ...path, ...query, ...headers }).map(([name, value]) => [camel(name), value]));
  const content = bodyOf(operation, body);
  const service = SERVICES.find((each) => operation.id in each);
  const promise = service[operation.id]({ ...named, ...(operation.fields.length ? { formData: content } : { requestBody: content }) });
  AbortSignal.timeout(timeoutMs).addEventListener("abort", () => promise.cancel());
  try {
    const result = await promise;
    return { result: operation.method === "HEAD" ? true : (result ?? null) };
  } catch (error) {
    if (operation.method === "HEAD" && error.status === 404) return { result: false };
    return { error: failed(error) };
  }
}

await serve({ client: "openapi-typescript-codegen", version: process.argv[2] }, open, call);
