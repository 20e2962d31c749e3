/**
 * Glue for adapters that `sample-resource-conformance client` drives: the protocol, numbers that no parser rounds, and
 * what a client shows of errors. It adds nothing to what a client does.
 */

import { createInterface } from "node:readline";

/**
 * @typedef {Record<string, any>} Values
 * @typedef {{ url: string, projectKey: string, clientId: string, clientSecret: string, tokenUrl: string, scope: string,
 *   token: string | null, timeoutMs: number, attemptTimeoutMs?: number }} Opened
 */

const KEPT = "\u0000integer ";

/**
 * JSON.parse, with each integer beyond 2^53 as a BigInt: JSON.parse itself would round it.
 *
 * @param {string} text
 * @returns {any}
 */
export function parse(text) {
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? JSON.stringify(KEPT + token) : token,
  );
  return JSON.parse(marked, (_, value) => (typeof value === "string" && value.startsWith(KEPT) ? BigInt(value.slice(KEPT.length)) : value));
}

/**
 * JSON.stringify, with a BigInt as a number.
 *
 * @param {unknown} value
 */
export function stringify(value) {
  const marked = JSON.stringify(value, (_, each) => (typeof each === "bigint" ? `${KEPT}${each}` : each));
  return marked?.replace(/"\\u0000integer (-?\d+)"/g, "$1");
}

/**
 * What a client shows of an answer that is no success.
 *
 * @param {number} status
 * @param {any} body as the client has read it
 * @param {{ get(name: string): string | null }} headers
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

/**
 * What a client on fetch raised that is no answer.
 *
 * @param {any} error
 */
export function raised(error) {
  const message = String(error?.message ?? error);
  if (error?.name === "TimeoutError" || error?.name === "AbortError") return { kind: "timeout", message };
  if (error instanceof SyntaxError) return { kind: "decoding", message };
  if (error instanceof TypeError && /fetch failed|terminated/.test(message)) return { kind: "network", message };
  return { kind: "other", message };
}

/**
 * Answer messages until the input ends. Calls run at the same time.
 *
 * @param {{ client: string, version: string, operations?: string[], features?: string[] }} hello
 * @param {(opened: Opened) => any} open makes a client; undefined if it cannot get a token itself
 * @param {(client: any, operation: string, given: Values, body: any, opened: Opened) => Promise<any>} call
 *   makes a call, and answers with `result`, `error` or `unsupported`; what it throws becomes an error
 */
export async function serve(hello, open, call) {
  /** @type {Map<string, { client: any, opened: Opened }>} */
  const sessions = new Map();

  /** @param {any} message */
  async function answer(message) {
    const { do: what, session, id, operation } = message;
    if (what === "hello") return hello;
    if (what === "open") {
      const client = open(message);
      if (client === undefined) return { session, unsupported: "it asks for no tokens" };
      sessions.set(session, { client, opened: message });
    }
    if (what === "close") sessions.delete(session);
    if (what !== "call") return { session, ok: true };
    const found = sessions.get(session);
    if (found === undefined || (hello.operations && !hello.operations.includes(operation))) {
      return { id, unsupported: `it has no ${operation}` };
    }
    const answered = await call(found.client, operation, message.arguments ?? {}, message.body, found.opened).catch(
      (error) => ({ error: raised(error) }),
    );
    // Many clients take numbers alone, and the glue has given them a BigInt.
    const isTooLarge = answered.error?.kind === "other" && /BigInt/.test(answered.error.message);
    return { id, ...(isTooLarge ? { unsupported: "it takes no integers beyond 2^53" } : answered) };
  }

  for await (const line of createInterface({ input: process.stdin })) {
    void answer(parse(line)).then((found) => process.stdout.write(`${stringify(found)}\n`));
  }
  process.exit();
}
