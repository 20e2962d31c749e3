// @commercetools/ts-client. It sends what it is given: paths and queries are written here, which is glue, and so are all lines
// but those of `open` and the call of `execute`.
import { ClientBuilder } from "@commercetools/ts-client";

import { FORM, bodyOf, httpError, placed, raised, serve } from "../protocol.mjs";

// Its `timeout` is that of one attempt; of a whole call it has none.
function open({ url, projectKey, token, clientId, clientSecret, scope, timeoutMs, attemptTimeoutMs }) {
  const builder = new ClientBuilder()
    .withProjectKey(projectKey)
    .withHttpMiddleware({ host: url, httpClient: fetch, enableRetry: true, timeout: attemptTimeoutMs ?? timeoutMs });
  if (token !== null) return builder.withExistingTokenFlow(`Bearer ${token}`, { force: true }).build();
  const credentials = { clientId, clientSecret };
  return builder
    .withClientCredentialsFlow({ host: url, projectKey, credentials, scopes: scope.split(" "), httpClient: fetch })
    .build();
}

function written(values) {
  return Object.entries(values)
    .flatMap(([name, value]) => (/^(var|text)\./.test(name) ? Object.entries(value) : [[name, value]]))
    .flatMap(([name, value]) => [value].flat().map((item) => [name, item].map(encodeURIComponent).join("=")))
    .join("&");
}

async function call(client, operation, given, body, { projectKey }) {
  const { path, query, header } = placed(operation, projectKey, given);
  const asked = written(query);
  const uri = operation.path.replace(/{(\w+)}/g, (_, name) => encodeURIComponent(path[name])) + (asked && `?${asked}`);
  const isForm = operation.body === FORM;
  const sent = bodyOf(operation, body);
  const headers = { ...header, ...(sent !== undefined && { "Content-Type": isForm ? FORM : "application/json" }) };
  try {
    const request = { method: operation.method, uri, headers, body: isForm && sent ? written(sent) : sent };
    const answer = await client.execute(request);
    if (operation.method === "HEAD") return { result: answer.statusCode === 200 };
    return { result: answer.statusCode === 304 ? null : answer.body, meta: { status: answer.statusCode } };
  } catch (found) {
    // Its errors have status and body in themselves, or in a member `error`; what fetch raised is their body.
    const inner = found.error ?? {};
    const status = found.statusCode || found.status || inner.statusCode || inner.status || 0;
    if (operation.method === "HEAD" && status === 404) return { result: false };
    const causes = [inner.body, found.body, inner, found];
    if (status < 300) return { error: raised(causes.find((each) => each instanceof Error) ?? found) };
    return { error: httpError(status, found.body ?? inner.body, new Headers(found.headers ?? inner.headers ?? {})) };
  }
}

await serve({ client: "@commercetools/ts-client", version: process.argv[2], features: ["attempt-timeout", "retries", "token-refresh"] }, open, call);
