// What openapi-generator makes with typescript-axios. All lines but the call of `api` are glue.
import axios from "axios";
import * as sdk from "../generated/openapi-generator-typescript-axios/index.ts";

import { together } from "../generated_models.mjs";
import { bodyOf, httpError, placed, raised, serve } from "../protocol.mjs";

function open({ url, token, timeoutMs }) {
  if (token === null) return undefined;
  const configuration = new sdk.Configuration({ basePath: url, accessToken: token });
  const instance = axios.create({ timeout: timeoutMs });
  return [sdk.ResourceApi, sdk.SearchApi, sdk.EchoApi].map((Api) => new Api(configuration, undefined, instance));
}

function headersOf(response) {
  return new Headers(Object.entries({ ...response.headers }).map(([name, value]) => [name, String(value)]));
}

async function call(client, operation, given, body, { projectKey }) {
  const asked = together(operation, placed(operation, projectKey, given), bodyOf(operation, body));
  const api = client.find((each) => operation.id in each);
  try {
    const { status, data } = await api[operation.id](asked.given, { headers: asked.headers });
    return { result: operation.method === "HEAD" ? status === 200 : data, meta: { status } };
  } catch (found) {
    const { code, response, message } = found;
    if (operation.method === "HEAD" && response?.status === 404) return { result: false };
    if (code === "ECONNABORTED" || code === "ETIMEDOUT") return { error: { kind: "timeout", message } };
    // An answer of success whose body ended too early is in the error too.
    if (response?.status >= 300) return { error: httpError(response.status, response.data, headersOf(response)) };
    if (axios.isAxiosError(found)) return { error: { kind: "network", message: `${code}: ${message}` } };
    return { error: raised(found) };
  }
}

await serve({ client: "openapi-generator typescript-axios", version: process.argv[2] }, open, call);
