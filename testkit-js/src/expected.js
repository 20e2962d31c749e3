// What a test expects of the requests of its client, as the service is asked.

/** @typedef {import("./types.js").Expectation} Expectation */

/** A request was expected, and was not sent so often. The message has the nearest one if none fits. */
export class UnexpectedRequests extends Error {
  name = "UnexpectedRequests";
}

/**
 * The body of the request to the service.
 * @param {string} method
 * @param {string | RegExp} path
 * @param {Expectation} expected
 */
export function order(method, path, { times, after, status, query, headers, body, withinMs }) {
  const earlier = [after ?? []].flat().map((entry) => entry.number);
  return {
    method,
    path: asPattern(path),
    ...(earlier.length && { after: Math.max(...earlier) }),
    ...(times !== undefined && { times: Array.isArray(times) ? range(times) : times }),
    ...(status !== undefined && { status }),
    ...(query && { query }),
    ...(headers && { header: headers }),
    ...(body !== undefined && { body: asBody(body) }),
    ...(withinMs !== undefined && { withinMs }),
  };
}

/**
 * What the service answers to what is not so, for a reader.
 * @param {any} answer
 * @param {import("./journal.js").JournalEntry[]} found the requests that fit
 * @param {string} project its key
 */
export function unmet({ message, nearest: [nearest] }, found, project) {
  const lines = [message, ...found.map((entry) => `  ${entry}`)];
  if (nearest) {
    const { number, method, target, status, differs } = nearest;
    const below = target.startsWith(`/${project}/`) ? target.slice(project.length + 1) : target;
    lines.push("The nearest request:", `  ${number}: ${method} ${below} -> ${status ?? "no answer"}`);
    lines.push(...differs.map((/** @type {string} */ each) => `     ${each}`));
  } else if (!found.length) lines.push("The journal has no request.");
  return lines.join("\n");
}

/** @param {[number, number | null]} times at least, at most */
function range([atLeast, atMost]) {
  return atMost === null ? { atLeast } : { atLeast, atMost };
}

/**
 * A text is the whole body, and null is none.
 * @param {unknown} body
 */
function asBody(body) {
  if (body === null || typeof body === "string") return `\\A${asPattern(body ?? "")}\\z`;
  return isPattern(body) ? asPattern(body) : body;
}

/**
 * A regular expression of the service: that of a pattern, or one that only this text matches.
 * @param {string | RegExp} text
 */
function asPattern(text) {
  if (!isPattern(text)) return text.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&");
  const flags = text.flags.replace(/[^ims]/g, "");
  return flags ? `(?${flags})${text.source}` : text.source;
}

/**
 * Whether a path is the wanted one.
 * @param {string} path
 * @param {string | RegExp} wanted
 */
export function isAt(path, wanted) {
  if (!isPattern(wanted)) return wanted === path;
  return new RegExp(`^(?:${wanted.source})$`, wanted.flags.replace(/[gy]/g, "")).test(path); // without a memory
}

/**
 * jest runs tests in a realm of their own, in which RegExp is another class.
 * @param {unknown} value
 * @returns {value is RegExp}
 */
function isPattern(value) {
  return Object.prototype.toString.call(value) === "[object RegExp]";
}
