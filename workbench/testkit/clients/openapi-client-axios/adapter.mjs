// openapi-client-axios, which makes its functions from the OpenAPI document when it starts. All lines but those that use
// `OpenAPIClientAxios` and the call of `client` are glue.
import { readFileSync } from "node:fs";

import { isAxiosError } from "axios";
import openapi from "openapi-client-axios";

import { FORM, bodyOf, httpError, placed, serve } from "../protocol.mjs";

const { OpenAPIClientAxios } = openapi;
const definition = JSON.parse(readFileSync(new URL("../../../../docs/openapi.json", import.meta.url), "utf8"));

function open({ token, url, timeoutMs }) {
  if (token === null) return undefined;
  const axiosConfigDefaults = { baseURL: url, timeout: timeoutMs, headers: { Authorization: `Bearer ${token}` } };
  return new OpenAPIClientAxios({ definition, quick: true, axiosConfigDefaults }).initSync();
}

async function call(client, operation, given, body, { projectKey }) {
  const { path, query, header } = placed(operation, projectKey, given);
  const { Accept, ...others } = header;
  const sent = bodyOf(operation, body);
  const headers = { ...(Accept && { Accept }), ...(operation.body === FORM && sent && { "Content-Type": FORM }) };
  try {
    const { status, data } = await client[operation.id]({ ...path, ...query, ...others }, sent, { headers });
    return { result: operation.method === "HEAD" ? true : data, meta: { status } };
  } catch (error) {
    const { code, message, response } = error;
    if (operation.method === "HEAD" && response?.status === 404) return { result: false };
    if (code === "ECONNABORTED" || code === "ETIMEDOUT") return { error: { kind: "timeout", message } };
    if (!isAxiosError(error)) return { error: { kind: error instanceof SyntaxError ? "decoding" : "other", message } };
    // An answer of success whose body ended too early is in the error too.
    if (!(response?.status >= 300)) return { error: { kind: "network", message } };
    return { error: httpError(response.status, response.data, response.headers) };
  }
}

await serve({ client: "openapi-client-axios", version: process.argv[2] }, open, call);
