// @ts-check
/**
 * A client on the fetch of Node.js, driven by the conformance kit: the second reference.
 *
 * `sample-resource-conformance client -- node adapter.mjs`
 *
 * JSON.parse reads all numbers as doubles, so the integers of answers are not exact beyond 2^53: `expected-failures.txt`.
 */

import { setTimeout as sleep } from "node:timers/promises";

import { serve, stringify } from "../../../testkit-js/src/adapter.js";

/**
 * @typedef {{ kind: string, status?: number, code?: string, message?: string, currentVersion?: number,
 *   retryAfterSeconds?: number, errors?: unknown[] }} Shown
 * @typedef {import("../../../testkit-js/src/adapter.js").Opened} Opened
 * @typedef {Record<string, any>} Arguments
 */

const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";
const PROJECTIONS = "/product-projection-search";

/** Method, and path below `/{projectKey}/resource`. @type {Record<string, [string, string]>} */
const OPERATIONS = {
  listResources: ["GET", ""],
  checkResources: ["HEAD", ""],
  createOrUpdateResource: ["POST", ""],
  createOrOverwriteResource: ["PUT", ""],
  overwriteResource: ["PATCH", ""],
  getResourceById: ["GET", "/{id}"],
  updateResourceById: ["POST", "/{id}"],
  deleteResourceById: ["DELETE", "/{id}"],
  getResourceByKey: ["GET", "/key={key}"],
  searchResources: ["GET", "/searchApiPattern"],
  searchProductProjections: ["POST", PROJECTIONS],
  listResourcesSorted: ["GET", "/sorted-query-parameters"],
  postWithAllOptions: ["POST", "/artificially-complex/path/uri-parameter-one={uriParameterOne}/{uriParameterTwo}"],
  postDescriptionWithLinks: ["POST", "/description-with-urn-links"],
};

const HEADERS = new Set(["If-Match", "If-None-Match", "X-Correlation-ID", "Prefer", "Accept"]);

/** What the client raises: an error in the form of the adapter's protocol. */
class Failure extends Error {
  /** @param {Shown} shown */
  constructor(shown) {
    super(shown.kind);
    this.shown = shown;
  }
}

// What is sent

/**
 * Names and values of a query or a form: lists as repetitions, `var` and `text` under names of their own.
 *
 * @param {Arguments} given
 * @returns {[string, string][]}
 */
function pairs(given) {
  return Object.entries(given).flatMap(([name, value]) => {
    if (value === null) return [];
    if (name === "var" || name === "text") {
      return pairs(Object.fromEntries(Object.entries(value).map(([key, item]) => [`${name}.${key}`, item])));
    }
    return [value].flat().map((item) => /** @type {[string, string]} */ ([name, text(item)]));
  });
}

/** @param {unknown} value */
function text(value) {
  return typeof value === "string" ? value : stringify(value);
}

/** @param {Arguments} given */
function encoded(given) {
  return pairs(given)
    .map((pair) => pair.map(encodeURIComponent).join("="))
    .join("&");
}

/**
 * Path and query. Arguments that stand in the path, or are headers, are taken out of the query.
 *
 * @param {string} operation
 * @param {Arguments} given
 */
function target(operation, given) {
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !HEADERS.has(name)));
  const path = OPERATIONS[operation][1].replace(/{(\w+)}/g, (_, name) => {
    delete rest[name];
    return encodeURIComponent(given[name]);
  });
  const query = encoded(rest);
  return query ? `${path}?${query}` : path;
}

/**
 * The body, and the header that says what it is.
 *
 * @param {string} operation
 * @param {any} body
 * @returns {{ body?: string, described: Record<string, string> }}
 */
function content(operation, body) {
  if (body === undefined || body === null) return { described: {} };
  if (operation === "searchProductProjections") return { body: encoded(body), described: { "Content-Type": FORM_TYPE } };
  return { body: stringify(body), described: { "Content-Type": JSON_TYPE } };
}

/**
 * Whether a request that may have been carried out can come again: it is safe, or names an id, key or version.
 *
 * @param {string} method
 * @param {string} path
 * @param {any} body
 */
function mayRepeat(method, path, body) {
  const isNamed = ["id", "key", "version"].some((name) => (body?.[name] ?? null) !== null);
  return !["POST", "PATCH"].includes(method) || path.startsWith(PROJECTIONS) || isNamed;
}

// What comes back

/** @param {Response} response */
function mediaType(response) {
  return (response.headers.get("Content-Type") ?? "").split(";")[0].trim().toLowerCase();
}

/**
 * What the client returns for an answer of success.
 *
 * @param {string} method
 * @param {Response} response
 * @param {ArrayBuffer} data
 */
function resultOf(method, response, data) {
  if (method === "HEAD") return response.status === 200;
  if (response.status === 304) return null;
  try {
    const body = new TextDecoder("utf-8", { fatal: true }).decode(data);
    if (mediaType(response) === FORM_TYPE) return formOf(body);
    const value = JSON.parse(body);
    if (mediaType(response) === JSON_TYPE && isObject(value)) return value;
  } catch (error) {
    throw new Failure({ kind: "decoding", message: String(error) });
  }
  throw new Failure({ kind: "decoding", message: "the answer is no JSON object" });
}

/** @param {string} body */
function formOf(body) {
  /** @type {Record<string, string[]>} */
  const found = {};
  for (const [name, value] of new URLSearchParams(body)) (found[name] ??= []).push(value);
  return found;
}

/** @param {unknown} value @returns {value is Record<string, any>} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * What the client raises for any other answer. The body may be anything.
 *
 * @param {Response} response
 * @param {ArrayBuffer} data
 */
function errorOf(response, data) {
  /** @type {unknown} */
  let parsed = null;
  try {
    parsed = JSON.parse(new TextDecoder().decode(data));
  } catch {
    // the page of a proxy, or nothing
  }
  const body = isObject(parsed) ? parsed : {};
  const errors = Array.isArray(body.errors) ? body.errors : [];
  const first = isObject(errors[0]) ? errors[0] : {};
  return new Failure({
    kind: "http",
    status: response.status,
    code: first.code ?? body.error,
    message: body.message,
    currentVersion: first.currentVersion,
    retryAfterSeconds: retryAfter(response),
    errors: errors.length ? errors : undefined,
  });
}

/** @param {Response} response */
function retryAfter(response) {
  const wait = response.headers.get("Retry-After") ?? "";
  return /^\d+$/.test(wait) ? Number(wait) : undefined;
}

/** One client of a project. It keeps its token; fetch keeps its connections. */
class Client {
  /** @param {Opened} opened */
  constructor(opened) {
    this.opened = opened;
    this.base = `${opened.url}/${opened.projectKey}/resource`;
    /** @type {Promise<string> | null} */
    this.token = opened.token === null ? null : Promise.resolve(opened.token);
    this.goodUntil = Infinity;
  }

  /**
   * The result of an operation, and what else the answer shows.
   *
   * @param {string} operation
   * @param {Arguments} given
   * @param {any} body
   */
  async call(operation, given, body) {
    const ends = Date.now() + this.opened.timeoutMs;
    const signal = AbortSignal.timeout(this.opened.timeoutMs);
    const { response, data } = await this.answer(operation, given, body, ends, signal);
    const isMissing = operation === "checkResources" && response.status === 404;
    if (!response.ok && response.status !== 304 && !isMissing) throw errorOf(response, data);
    const shown = { etag: response.headers.get("ETag"), location: response.headers.get("Location") };
    const meta = Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== null));
    return { result: resultOf(OPERATIONS[operation][0], response, data), meta: { status: response.status, ...meta } };
  }

  /**
   * The answer that counts: after a new token for a 401, and after the wait that a 429 or 503 asks for.
   *
   * @param {string} operation
   * @param {Arguments} given
   * @param {any} body
   * @param {number} ends
   * @param {AbortSignal} signal
   */
  async answer(operation, given, body, ends, signal) {
    const [method] = OPERATIONS[operation];
    const path = target(operation, given);
    const headers = Object.fromEntries(Object.entries(given).filter(([name, value]) => HEADERS.has(name) && value !== null));
    const { body: sent, described } = content(operation, body);
    let token = await this.getToken(null, signal);
    for (let isRenewed = false; ; ) {
      const all = { ...headers, ...described, Authorization: `Bearer ${token}` };
      const found = await this.attempt(this.base + path, { method, headers: all, body: sent }, signal);
      const wait = (retryAfter(found.response) ?? 0.5) * 1000;
      const isBusy = found.response.status === 429 || found.response.status === 503;
      if (found.response.status === 401 && this.opened.token === null && !isRenewed) {
        isRenewed = true;
        token = await this.getToken(token, signal);
      } else if (isBusy && mayRepeat(method, path, body) && Date.now() + wait < ends) {
        await sleep(wait);
      } else {
        return found;
      }
    }
  }

  /**
   * Send a request. What is safe is sent once more if its connection breaks, or takes longer than one attempt may.
   *
   * @param {string} url
   * @param {RequestInit} options
   * @param {AbortSignal} signal
   */
  async attempt(url, options, signal) {
    const { timeoutMs, attemptTimeoutMs = timeoutMs } = this.opened;
    const limited = () => AbortSignal.any([signal, AbortSignal.timeout(attemptTimeoutMs)]);
    try {
      return await this.send(url, options, limited());
    } catch (error) {
      if (signal.aborted || !["GET", "HEAD"].includes(options.method ?? "")) throw error;
      return await this.send(url, options, limited());
    }
  }

  /**
   * @param {string} url
   * @param {RequestInit} options
   * @param {AbortSignal} signal
   */
  async send(url, options, signal) {
    try {
      const response = await fetch(url, { ...options, signal, redirect: "manual" });
      return { response, data: await response.arrayBuffer() };
    } catch (error) {
      const isLate = signal.aborted || (error instanceof Error && error.name === "TimeoutError");
      throw new Failure({ kind: isLate ? "timeout" : "network", message: String(error) });
    }
  }

  /**
   * The token, which is asked for once and kept until it ends or is refused. Calls at once wait for the same.
   *
   * @param {string | null} refused
   * @param {AbortSignal} signal
   */
  async getToken(refused, signal) {
    const held = this.token;
    if (held === null || Date.now() > this.goodUntil || (refused !== null && (await held) === refused)) {
      if (this.token === held) this.token = this.newToken(signal);
    }
    try {
      return await /** @type {Promise<string>} */ (this.token);
    } catch (error) {
      this.token = null;
      throw error;
    }
  }

  /** @param {AbortSignal} signal */
  async newToken(signal) {
    const { clientId, clientSecret, scope, tokenUrl } = this.opened;
    const credentials = Buffer.from(`${clientId}:${clientSecret}`).toString("base64");
    const headers = { Authorization: `Basic ${credentials}`, "Content-Type": FORM_TYPE };
    const body = encoded({ grant_type: "client_credentials", scope });
    this.goodUntil = Infinity;
    const ends = Date.now() + this.opened.timeoutMs;
    let { response, data } = await this.send(tokenUrl, { method: "POST", headers, body }, signal);
    while (response.status === 429 || response.status === 503) {
      const wait = (retryAfter(response) ?? 0.5) * 1000;
      if (Date.now() + wait > ends) break;
      await sleep(wait);
      ({ response, data } = await this.send(tokenUrl, { method: "POST", headers, body }, signal));
    }
    if (response.status !== 200) throw errorOf(response, data);
    const granted = resultOf("POST", response, data);
    if (typeof granted.access_token !== "string") {
      throw new Failure({ kind: "decoding", message: "the answer has no access_token" });
    }
    this.goodUntil = Date.now() + (granted.expires_in ?? 0) * 900;
    return granted.access_token;
  }
}

// The protocol

const FEATURES = ["attempt-timeout", "reconnects", "retries", "token-refresh"];
const HELLO = { client: "fetch", version: process.versions.node, operations: Object.keys(OPERATIONS), features: FEATURES };

await serve(
  HELLO,
  (opened) => new Client(opened),
  async (client, operation, given, body) => {
    try {
      return await client.call(operation, given, body);
    } catch (error) {
      return { error: error instanceof Failure ? error.shown : { kind: "other", message: String(error) } };
    }
  },
);
