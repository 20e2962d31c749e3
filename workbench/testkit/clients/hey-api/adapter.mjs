// What @hey-api/openapi-ts generates, with its client on fetch. All lines but those of `call` are glue.
import { createClient, createConfig } from "../generated/hey-api/client/index.ts";
import * as sdk from "../generated/hey-api/sdk.gen.ts";

import { bodyOf, outcome, placed, serve } from "../protocol.mjs";

function open({ url, token }) {
  return token === null ? undefined : createClient(createConfig({ baseUrl: url, auth: token }));
}

async function call(client, operation, given, body, { projectKey, timeoutMs }) {
  const { path, query, header } = placed(operation, projectKey, given);
  const signal = AbortSignal.timeout(timeoutMs);
  const options = { client, path, query, headers: header, body: bodyOf(operation, body), signal };
  const { data, error, response } = await sdk[operation.id](options);
  if (response === undefined) throw error;
  return outcome(operation, response, data, error);
}

await serve({ client: "@hey-api/openapi-ts", version: process.argv[2] }, open, call);
