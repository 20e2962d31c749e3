// @ts-check
/** Glue for adapters of clients in JavaScript: the protocol, and what the OpenAPI document says of each operation. */

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export const FORM = "application/x-www-form-urlencoded";

const DOCUMENTED = new URL("../src/sample_resource_testkit/client/operations.json", import.meta.url);

/**
 * @typedef {{ name: string, in: string, kind: string }} Parameter
 * @typedef {{ id: string, method: string, path: string, parameters: Parameter[], body: string | null, fields: Parameter[] }} Operation
 * @typedef {{ projectKey: string, url: string, token: string | null, timeoutMs: number, clientId: string,
 *   clientSecret: string, tokenUrl: string, scope: string }} Opened
 * @typedef {Record<string, any>} Values
 */

/** @type {Map<string, Operation>} */
export const OPERATIONS = new Map(JSON.parse(readFileSync(DOCUMENTED, "utf8")).map((/** @type {Operation} */ each) => [each.id, each]));

const FAMILIES = { var: "var.<name>", text: "text.<language>" };

/**
 * Arguments under the names that the document gives them: the members of `var` and `text` have their prefixes.
 *
 * @param {Values} given
 */
export function named(given) {
  return Object.fromEntries(
    Object.entries(given)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => {
        if (name !== "var" && name !== "text") return [name, value];
        return [FAMILIES[name], Object.fromEntries(Object.entries(value).map(([key, item]) => [`${name}.${key}`, item]))];
      }),
  );
}

/**
 * The arguments of a call by the place where they stand.
 *
 * @param {Operation} operation
 * @param {string} projectKey
 * @param {Values} given
 */
export function placed(operation, projectKey, given) {
  /** @type {Record<string, Values>} */
  const found = { path: { projectKey }, query: {}, header: {} };
  for (const [name, value] of Object.entries(named(given))) {
    const place = operation.parameters.find((each) => each.name === name)?.in ?? "query";
    // objectParameter is a text in the document
    found[place][name] = name === "objectParameter" && typeof value !== "string" ? JSON.stringify(value) : value;
  }
  return found;
}

/** @param {Operation} operation @param {any} body */
export function bodyOf(operation, body) {
  return operation.body === FORM && body ? named(body) : (body ?? undefined);
}

/** A name as generators write it: `filter.facets` is filterFacets. @param {string} name */
export function camel(name) {
  const words = name.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return words.map((word, place) => (place ? word[0].toUpperCase() + word.slice(1).toLowerCase() : word[0].toLowerCase() + word.slice(1))).join("");
}

/** The names of a function's arguments, whose types Node.js has put blanks in place of. @param {Function} generated */
export function argumentsOf(generated) {
  const list = /\(([^{)]*)/.exec(generated.toString())?.[1] ?? "";
  return list.split(",").map((name) => name.split("=")[0].trim()).filter(Boolean);
}

/**
 * What a client shows of an answer that is no success.
 *
 * @param {number} status
 * @param {any} body as the client has read it
 * @param {Headers} headers
 */
export function httpError(status, body, headers) {
  const first = body?.errors?.[0] ?? {};
  const wait = headers.get("Retry-After") ?? "";
  return {
    kind: "http",
    status,
    code: first.code ?? body?.error,
    message: body?.message,
    currentVersion: first.currentVersion,
    retryAfterSeconds: /^\d+$/.test(wait) ? Number(wait) : undefined,
    errors: body?.errors,
  };
}

/** What a client raised that is no answer. @param {any} error */
export function raised(error) {
  const message = String(error?.message ?? error);
  if (error?.name === "TimeoutError" || error?.name === "AbortError") return { kind: "timeout", message };
  if (error instanceof SyntaxError) return { kind: "decoding", message };
  if (error instanceof TypeError && /fetch failed|terminated/.test(message)) return { kind: "network", message };
  return { kind: "other", message };
}

/**
 * Answer messages until the input ends.
 *
 * @param {{ client: string, version: string, features?: string[] }} hello
 * @param {(opened: Opened) => any} open makes a client; undefined if it cannot get a token itself
 * @param {(client: any, operation: Operation, given: Values, body: any, opened: Opened) => Promise<object>} call
 */
export async function serve(hello, open, call) {
  /** @type {Map<string, { client: any, opened: Opened }>} */
  const sessions = new Map();

  /** @param {any} message */
  async function answer(message) {
    const { do: what, session, id } = message;
    if (what === "hello") return hello;
    if (what === "open") {
      const client = open(message);
      if (client === undefined) return { session, unsupported: "it asks for no tokens" };
      sessions.set(session, { client, opened: message });
    }
    if (what === "close") sessions.delete(session);
    if (what !== "call") return { session, ok: true };
    const operation = OPERATIONS.get(message.operation);
    const found = sessions.get(session);
    if (operation === undefined || found === undefined) return { id, unsupported: `it has no ${message.operation}` };
    try {
      return { id, ...(await call(found.client, operation, message.arguments ?? {}, message.body, found.opened)) };
    } catch (error) {
      return { id, error: raised(error) };
    }
  }

  for await (const line of createInterface({ input: process.stdin })) {
    void answer(JSON.parse(line)).then((found) => process.stdout.write(`${JSON.stringify(found)}\n`));
  }
  process.exit();
}

/** The result of an answer, as the protocol has it. @param {Operation} operation @param {Response} response @param {any} data @param {any} error */
export function outcome(operation, response, data, error) {
  const isMissing = operation.method === "HEAD" && response.status === 404;
  if (operation.method === "HEAD" && (response.ok || isMissing)) return { result: response.ok };
  if (response.status === 304) return { result: null };
  if (!response.ok) return { error: httpError(response.status, error, response.headers) };
  // Some clients raise nothing, and return what went wrong beside the response.
  if (error !== undefined && error !== null) return { error: raised(error) };
  return { result: data ?? null, meta: { status: response.status } };
}
