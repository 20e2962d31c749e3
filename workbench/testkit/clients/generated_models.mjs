// @ts-check
/** Glue for what openapi-generator makes for TypeScript: names of arguments. */

import { FORM } from "./protocol.mjs";

/** @typedef {import("./protocol.mjs").Operation} Operation @typedef {import("./protocol.mjs").Values} Values */

/** @type {Record<string, string>} the argument that is the body */
export const BODIES = {
  createOrUpdateResource: "resourceDraft",
  createOrOverwriteResource: "resourceDraft",
  overwriteResource: "resourceDraft",
  updateResourceById: "update",
  postWithAllOptions: "complexRecord",
  postDescriptionWithLinks: "complexRecord",
};

/** A name as the generator writes it: `X-Correlation-ID` is xCorrelationID. @param {string} name */
function camel(name) {
  const words = name.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return words.map((word, place) => (place ? word[0].toUpperCase() : word[0].toLowerCase()) + word.slice(1)).join("");
}

/**
 * All arguments of a call in one object. Fields of a form have the names of parameters with a 2 behind them.
 *
 * @param {Operation} operation
 * @param {Record<string, Values>} places
 * @param {any} body
 */
export function together(operation, { path, query, header }, body) {
  const { Accept, ...headers } = header;
  /** @type {Values} */
  const given = {};
  for (const [name, value] of Object.entries({ ...path, ...query, ...headers })) given[camel(name)] = value;
  if (operation.body === FORM) for (const [name, value] of Object.entries(body ?? {})) given[`${camel(name)}2`] = value;
  else if (body !== undefined) given[BODIES[operation.id]] = body;
  return { given, headers: /** @type {Values} */ (Accept === undefined ? {} : { Accept }) };
}
