// openapi-client-axios, which makes its functions from the OpenAPI document when it starts. All lines but those that use
// `OpenAPIClientAxios` and the call of `client` are glue.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import { isAxiosError } from "axios";
import openapi from "openapi-client-axios";

const { OpenAPIClientAxios } = openapi;
const FORM = "application/x-www-form-urlencoded";
const FAMILIES = { var: "var.<name>", text: "text.<language>" };
const definition = JSON.parse(readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf8"));
const sessions = new Map();

function open({ session, token, url, projectKey, timeoutMs }) {
  if (token === null) return { session, unsupported: "it asks for no tokens" };
  const axiosConfigDefaults = { baseURL: url, timeout: timeoutMs, headers: { Authorization: `Bearer ${token}` } };
  const api = new OpenAPIClientAxios({ definition, quick: true, axiosConfigDefaults });
  sessions.set(session, { client: api.initSync(), projectKey });
  return { session, ok: true };
}

/** Values under the names of the document; what is null is absent. */
function named(values) {
  const there = Object.entries(values ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(
    there.map(([name, value]) => {
      if (name === "objectParameter" && typeof value !== "string") return [name, JSON.stringify(value)];
      if (!(name in FAMILIES)) return [name, value];
      return [FAMILIES[name], Object.fromEntries(Object.entries(value).map(([key, item]) => [`${name}.${key}`, item]))];
    }),
  );
}

async function call({ session, operation, arguments: given, body }) {
  const { client, projectKey } = sessions.get(session);
  if (client[operation] === undefined) return { unsupported: `it has no ${operation}` };
  const isForm = operation === "searchProductProjections";
  const { Accept, ...parameters } = named(given);
  const headers = { ...(Accept && { Accept }), ...(isForm && body && { "Content-Type": FORM }) };
  try {
    const sent = isForm && body ? named(body) : (body ?? undefined);
    const { status, data } = await client[operation]({ projectKey, ...parameters }, sent, { headers });
    return { result: operation === "checkResources" ? true : data, meta: { status } };
  } catch (error) {
    return failure(operation, error);
  }
}

function failure(operation, error) {
  const { code, message, response } = error;
  if (operation === "checkResources" && response?.status === 404) return { result: false };
  if (code === "ECONNABORTED" || code === "ETIMEDOUT") return { error: { kind: "timeout", message } };
  if (!isAxiosError(error)) return { error: { kind: error instanceof SyntaxError ? "decoding" : "other", message } };
  // An answer of success whose body ended too early is in the error too.
  if (!(response?.status >= 300)) return { error: { kind: "network", message } };
  const { status, data, headers } = response;
  const first = data?.errors?.[0];
  const wait = /^\d+$/.test(headers["retry-after"]) ? Number(headers["retry-after"]) : undefined;
  const shown = { code: first?.code ?? data?.error, message: data?.message, errors: data?.errors };
  return { error: { kind: "http", status, ...shown, currentVersion: first?.currentVersion, retryAfterSeconds: wait } };
}

async function answer(message) {
  const { do: what, session, id } = message;
  if (what === "hello") return { client: "openapi-client-axios", version: process.argv[2] };
  if (what === "open") return open(message);
  if (what === "call") return { id, ...(await call(message)) };
  sessions.delete(session);
  return { session, ok: true };
}

for await (const line of createInterface({ input: process.stdin })) {
  void answer(JSON.parse(line)).then((found) => process.stdout.write(`${JSON.stringify(found)}\n`));
}
process.exit();
