// The functions that oazapfts generates. All lines but the call of `sdk` are glue.
import * as sdk from "../generated/oazapfts.ts";

import { argumentsOf, bodyOf, camel, outcome, placed, serve } from "../protocol.mjs";

function open({ url, token }) {
  return token === null ? undefined : { baseUrl: url, headers: { Authorization: `Bearer ${token}` } };
}

/** Members of a body under the names that the generated code reads. */
function renamed(values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [camel(name), value]));
}

async function call(client, operation, given, body, { projectKey, timeoutMs }) {
  const { path, query, header } = placed(operation, projectKey, given);
  // The names before the options: parameters of the path, in the order of the document, and the body.
  const order = argumentsOf(sdk[operation.id]).map((name) => (name in path ? path[name] : bodyOf(operation, body)));
  const { Accept, ...headers } = header;
  const options = { ...client, headers: { ...client.headers, ...(Accept && { Accept }) }, signal: AbortSignal.timeout(timeoutMs) };
  const { status, data, headers: shown } = await sdk[operation.id](...order, renamed({ ...query, ...headers }), options);
  return outcome(operation, { status, ok: status >= 200 && status < 300, headers: shown ?? new Headers() }, data, status < 300 ? undefined : data);
}

await serve({ client: "oazapfts", version: process.argv[2] }, open, call);
