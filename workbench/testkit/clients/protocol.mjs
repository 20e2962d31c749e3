// @ts-check
/** Glue for adapters of generated clients in JavaScript: what the OpenAPI document says of each operation. */

import { readFileSync } from "node:fs";

import { httpError, raised, serve as answering, stringify } from "../../testkit-js/src/adapter.js";

export { httpError, raised, stringify };

export const FORM = "application/x-www-form-urlencoded";

const DOCUMENTED = new URL("../src/sample_resource_testkit/client/operations.json", import.meta.url);

/**
 * @typedef {{ name: string, in: string, kind: string }} Parameter
 * @typedef {{ id: string, method: string, path: string, parameters: Parameter[], body: string | null, fields: Parameter[] }} Operation
 * @typedef {import("../../testkit-js/src/adapter.js").Opened} Opened
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
    found[place][name] = name === "objectParameter" && typeof value !== "string" ? stringify(value) : value;
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
 * Answer messages until the input ends: a call gets what the document says of its operation.
 *
 * @param {{ client: string, version: string, features?: string[] }} hello
 * @param {(opened: Opened) => any} open makes a client; undefined if it cannot get a token itself
 * @param {(client: any, operation: Operation, given: Values, body: any, opened: Opened) => Promise<any>} call
 */
export async function serve(hello, open, call) {
  const all = { operations: [...OPERATIONS.keys()], ...hello };
  await answering(all, open, (client, operation, ...rest) =>
    call(client, /** @type {Operation} */ (OPERATIONS.get(operation)), ...rest),
  );
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
