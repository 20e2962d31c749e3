// The functions that orval generates, for fetch. All lines but the call of `sdk` are glue.
import * as sdk from "../generated/orval/api.ts";

import { argumentsOf, bodyOf, outcome, placed, serve } from "../protocol.mjs";

function open({ url, token }) {
  return token === null ? undefined : { url, headers: { Authorization: `Bearer ${token}` } };
}

async function call(client, operation, given, body, { projectKey, timeoutMs }) {
  const { path, query, header } = placed(operation, projectKey, given);
  const options = { headers: { ...client.headers, ...header }, signal: AbortSignal.timeout(timeoutMs) };
  const known = { ...path, params: query, options };
  const names = argumentsOf(sdk[operation.id]);
  // The generated code reads the address when it is called, before anything else is.
  globalThis.serviceUrl = client.url;
  const { status, data, headers } = await sdk[operation.id](
    ...names.map((name) => (name in known ? known[name] : bodyOf(operation, body))),
  );
  return outcome(operation, { status, ok: status >= 200 && status < 300, headers }, data, status < 300 ? undefined : data);
}

await serve({ client: "orval", version: process.argv[2] }, open, call);
