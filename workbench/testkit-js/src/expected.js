// What a test expects of the requests of its client, as the service is asked.

import { refuseOthers } from "./options.js";

/** @typedef {import("./types.js").Expectation} Expectation */

const OPTIONS = ["times", "after", "status", "query", "headers", "body", "withinMs", "settleMs"];

/** A request was expected, and was not sent so often. The message is the service's. */
export class UnexpectedRequests extends Error {
  name = "UnexpectedRequests";
}

/**
 * The body of the request to the service.
 * @param {string} method
 * @param {string} path
 * @param {Expectation} expected
 */
export function order(method, path, expected) {
  refuseOthers("expect", expected, OPTIONS);
  const { times, after, status, query, headers, body, withinMs, settleMs } = expected;
  const earlier = [after ?? []].flat().map((entry) => entry.number);
  return {
    method,
    path,
    ...(earlier.length && { after: Math.max(...earlier) }),
    ...(times !== undefined && { times: Array.isArray(times) ? range(times) : times }),
    ...(status !== undefined && { status }),
    ...(query && { query }),
    ...(headers && { header: headers }),
    ...(body !== undefined && { body: body ?? "" }),
    ...(withinMs !== undefined && { withinMs }),
    ...(settleMs !== undefined && { settleMs }),
  };
}

/** @param {[number, number | null]} times at least, at most */
function range([atLeast, atMost]) {
  return atMost === null ? { atLeast } : { atLeast, atMost };
}

/**
 * Whether a text is the wanted one, in which `*` stands for any characters.
 * @param {string} wanted
 * @param {string} text
 */
export function fits(wanted, text) {
  const parts = wanted.split("*").map((part) => part.replace(/[\\.+?()|[\]{}^$]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s").test(text);
}
