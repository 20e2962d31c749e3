// openapi-fetch, whose types openapi-typescript generates; at run time there are none. All lines but those of `call` are glue.
import createClient from "openapi-fetch";

import { FORM, bodyOf, outcome, placed, serve } from "../protocol.mjs";

function open({ url, token }) {
  return token === null ? undefined : createClient({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });
}

async function call(client, operation, given, body, { projectKey, timeoutMs }) {
  const params = placed(operation, projectKey, given);
  const headers = operation.body === FORM ? { "Content-Type": FORM } : {};
  const signal = AbortSignal.timeout(timeoutMs);
  const options = { params, body: bodyOf(operation, body), headers, signal };
  const { data, error, response } = await client.request(operation.method.toLowerCase(), operation.path, options);
  return outcome(operation, response, data, error);
}

await serve({ client: "openapi-fetch", version: process.argv[2] }, open, call);
