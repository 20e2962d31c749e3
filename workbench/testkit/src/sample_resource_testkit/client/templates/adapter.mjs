/**
 * An adapter: it lets `sample-resource-conformance client` use one client. Here that is the fetch of Node.js.
 *
 * npm install --save-dev sample-resource-testkit
 * sample-resource-conformance client -- node adapter.mjs
 */

import { httpError, raised, serve } from "sample-resource-testkit/adapter";

// glue: which function of the client is which operation; here method and path
const OPERATIONS = {
  listResources: ["GET", ""],
  checkResources: ["HEAD", ""],
  createOrUpdateResource: ["POST", ""],
  getResourceById: ["GET", "/{id}"],
  deleteResourceById: ["DELETE", "/{id}"],
};

const HELLO = { client: "fetch", version: process.versions.node, operations: Object.keys(OPERATIONS) };

/** One client. A client that gets its token itself does so with clientId, clientSecret, tokenUrl and scope. */
const open = (opened) => (opened.token === null ? undefined : opened);

/** The client. Put yours here: it gets the arguments in its own way, and returns its own objects. */
async function useClient(opened, method, path, query, body) {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((item) => [name, String(item)]));
  const target = `${opened.url}/${opened.projectKey}/resource${path}`;
  const response = await fetch(pairs.length ? `${target}?${new URLSearchParams(pairs)}` : target, {
    method,
    headers: { Authorization: `Bearer ${opened.token}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(opened.timeoutMs),
  });
  const text = await response.text();
  if (response.ok) return method === "HEAD" ? true : JSON.parse(text);
  throw Object.assign(new Error(`status ${response.status}`), { response, text });
}

/** The answer to a call: what the client returned, or what it raised. */
async function call(client, operation, given, body) {
  const [method, path] = OPERATIONS[operation];
  const { id, ...others } = given;
  const query = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null));
  try {
    return { result: await useClient(client, method, path.replace("{id}", () => encodeURIComponent(id)), query, body) };
  } catch (error) {
    if (!error.response) return { error: raised(error) };
    if (method === "HEAD" && error.response.status === 404) return { result: false };
    return { error: httpError(error.response.status, read(error.text), error.response.headers) };
  }
}

/** The body of an error, which may be anything. */
function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

await serve(HELLO, open, call);
