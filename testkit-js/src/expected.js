// What a test expects of the requests of its client.

import { parsed } from "./journal.js";

/** @typedef {import("./journal.js").JournalEntry} JournalEntry */
/** @typedef {import("./types.js").Expectation} Expectation */

/** A request was expected, and was not sent so often. The message has those that were sent, or the nearest one. */
export class UnexpectedRequests extends Error {
  name = "UnexpectedRequests";
}

const SHOWN_AT_MOST = 300;

/**
 * The expected requests.
 * @param {string} method
 * @param {string | RegExp} path
 * @param {Expectation} expected
 * @param {JournalEntry[]} entries the journal, oldest first
 * @returns {JournalEntry[]}
 * @throws {UnexpectedRequests} if there are fewer or more
 */
export function verified(method, path, expected, entries) {
  const times = expected.times ?? [1, null];
  const [atLeast, atMost] = typeof times === "number" ? [times, times] : times;
  const number = Math.max(0, ...[expected.after ?? []].flat().map((entry) => entry.number));
  const candidates = entries.filter((entry) => entry.number > number);
  const differences = new Map(entries.map((entry) => [entry, [...misfits(method, path, expected, entry)]]));
  const of = (/** @type {JournalEntry} */ entry) => differences.get(entry) ?? [];
  const found = candidates.filter((entry) => of(entry).length === 0);
  if (found.length >= atLeast && (atMost === null || found.length <= atMost)) return found;

  const place = number ? ` after request ${number}` : "";
  const wanted = describe(method, path, expected);
  const lines = [`${wanted} was expected ${often(atLeast, atMost)}${place}, and was sent ${counted(found.length)}.`];
  const [nearest] = (candidates.length ? candidates : entries).toSorted((one, other) => distance(one) - distance(other));
  if (found.length) lines.push(...found.map((entry) => `  ${entry}`));
  else if (nearest) {
    lines.push("The nearest request:", `  ${nearest}`, ...of(nearest).map(([, text]) => `     ${text}`));
    if (!candidates.length) lines.push("     it came earlier");
  } else lines.push("The journal has no request.");
  throw new UnexpectedRequests(lines.join("\n"));

  /** @param {JournalEntry} entry */
  function distance(entry) {
    return of(entry).reduce((sum, [weight]) => sum + weight, 0) - alike(source(path), entry.path);
  }
}

/**
 * Each difference of a request to the expected one, with how much it matters.
 * @param {string} method
 * @param {string | RegExp} path
 * @param {Expectation} expected
 * @param {JournalEntry} entry
 * @returns {Generator<[number, string]>}
 */
function* misfits(method, path, expected, entry) {
  if (entry.method !== method) yield [3, `method: ${method} was expected`];
  if (!isAt(entry.path, path)) {
    yield [4, `path: ${isPattern(path) ? `a match of ${path.source}` : path} was expected`];
  }
  const { status, query, headers, body } = expected;
  if (status !== undefined && status !== entry.status) yield [1, `status: ${status} was expected`];
  if (typeof query === "string") {
    if (query !== entry.query) yield [1, `query: ${shown(query)} was expected, and it is ${shown(entry.query)}`];
  } else {
    const sent = new URLSearchParams(entry.query);
    for (const [name, values] of Object.entries(query ?? {})) {
      yield* valuesMisfit(`query -> ${name}`, values, sent.getAll(name));
    }
  }
  for (const [name, values] of Object.entries(headers ?? {})) {
    const sent = entry.headers.filter(([each]) => each.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
    yield* valuesMisfit(`header ${name}`, values, sent);
  }
  const misfit = body === undefined ? null : bodyMisfit(body, entry.body);
  if (misfit !== null) yield [1, misfit];
}

/**
 * @param {string} name
 * @param {import("./types.js").Values} expected
 * @param {string[]} values
 * @returns {Generator<[number, string]>}
 */
function* valuesMisfit(name, expected, values) {
  const found = values.length ? values.map(shown).join(", ") : "not there";
  if (typeof expected === "boolean") {
    if (expected !== values.length > 0) {
      yield [1, `${name}: ${expected ? "any value" : "none"} was expected, and it is ${found}`];
    }
  } else if (isPattern(expected)) {
    if (!values.length || !values.every((value) => isWhole(expected, value))) {
      yield [1, `${name}: a match of ${expected.source} was expected, and it is ${found}`];
    }
  } else {
    const wanted = [expected].flat();
    if (wanted.length !== values.length || wanted.some((value, index) => value !== values[index])) {
      yield [1, `${name}: ${wanted.map(shown).join(", ")} was expected, and it is ${found}`];
    }
  }
}

/**
 * @param {unknown} expected
 * @param {string | null} body
 * @returns {string | null}
 */
function bodyMisfit(expected, body) {
  if (isPattern(expected)) {
    const fits = body !== null && timeless(expected).test(body);
    return fits ? null : `body: a match of ${expected.source} was expected, and it is ${shown(body)}`;
  }
  if (expected === null || typeof expected === "string") {
    return expected === body ? null : `body: ${shown(expected)} was expected, and it is ${shown(body)}`;
  }
  const sent = parsed(body);
  return sent === undefined ? `body: JSON was expected, and it is ${shown(body)}` : jsonMisfit(expected, sent, "body");
}

/**
 * The first difference of JSON: members may be more than the expected ones, and items of arrays too.
 * @param {any} expected
 * @param {any} sent
 * @param {string} path
 * @returns {string | null}
 */
function jsonMisfit(expected, sent, path) {
  if (Array.isArray(expected) && Array.isArray(sent)) {
    const missing = expected.find((value) => sent.every((item) => jsonMisfit(value, item, path) !== null));
    return missing === undefined ? null : `${path}: an item ${shown(missing)} was expected, and it is ${shown(sent)}`;
  }
  if (isObject(expected) && isObject(sent)) {
    for (const [name, value] of Object.entries(expected)) {
      if (!Object.hasOwn(sent, name)) return `${path} -> ${name}: ${shown(value)} was expected, and it is not there`;
      const misfit = jsonMisfit(value, sent[name], `${path} -> ${name}`);
      if (misfit !== null) return misfit;
    }
    return null;
  }
  return expected === sent ? null : `${path}: ${shown(expected)} was expected, and it is ${shown(sent)}`;
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Whether a path is the wanted one.
 * @param {string} path
 * @param {string | RegExp} wanted
 */
export function isAt(path, wanted) {
  return isPattern(wanted) ? isWhole(wanted, path) : wanted === path;
}

/**
 * jest runs tests in a realm of their own, in which RegExp is another class.
 * @param {unknown} value
 * @returns {value is RegExp}
 */
function isPattern(value) {
  return Object.prototype.toString.call(value) === "[object RegExp]";
}

/**
 * @param {RegExp} pattern
 * @param {string} text
 */
function isWhole(pattern, text) {
  return timeless(pattern, `^(?:${pattern.source})$`).test(text);
}

/**
 * A pattern that does not remember where it stopped.
 * @param {RegExp} pattern
 */
function timeless(pattern, source = pattern.source) {
  return new RegExp(source, pattern.flags.replace(/[gy]/g, ""));
}

/** @param {string | RegExp} path */
function source(path) {
  return typeof path === "string" ? path : path.source;
}

/**
 * The share of two texts that is the same at their beginnings and ends.
 * @param {string} one
 * @param {string} other
 */
function alike(one, other) {
  const length = Math.min(one.length, other.length);
  let head = 0;
  let tail = 0;
  while (head < length && one[head] === other[head]) head += 1;
  while (tail < length - head && one.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  return (2 * (head + tail)) / (one.length + other.length || 1);
}

/**
 * @param {string} method
 * @param {string | RegExp} path
 * @param {Expectation} expected
 */
function describe(method, path, expected) {
  const parts = /** @type {const} */ (["status", "query", "headers", "body"])
    .filter((name) => expected[name] !== undefined)
    .map((name) => `${name} ${shown(expected[name])}`);
  const at = isPattern(path) ? `(${path.source})` : path;
  return `${method} ${at}${parts.length ? ` with ${parts.join(", ")}` : ""}`;
}

/**
 * A value as JSON, cut.
 * @param {unknown} value
 */
function shown(value) {
  if (value === null) return "none";
  const text = JSON.stringify(value, (_, each) => (isPattern(each) ? each.source : each)) ?? String(value);
  return text.length <= SHOWN_AT_MOST ? text : `${text.slice(0, SHOWN_AT_MOST)}...`;
}

/**
 * @param {number} atLeast
 * @param {number | null} atMost
 */
function often(atLeast, atMost) {
  if (atLeast === atMost) return atLeast === 0 ? "never" : counted(atLeast);
  return atMost === null ? `at least ${counted(atLeast)}` : `${atLeast} to ${counted(atMost)}`;
}

/** @param {number} number */
function counted(number) {
  return number === 1 ? "once" : `${number} times`;
}
