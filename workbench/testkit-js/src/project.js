// A throwaway project in the sandbox of a server.
/// <reference lib="esnext.disposable" preserve="true" />

import { fits, order, UnexpectedRequests } from "./expected.js";
import { JournalEntry, told } from "./journal.js";
import { refuseOthers } from "./options.js";
import { SandboxError } from "./server.js";

/** @typedef {import("./types.js").Rule} Rule */
/** @typedef {import("./types.js").Report} Report */

/** The server keeps so many of the last requests of a project. */
const JOURNAL_LENGTH = 1_000;

const PAGE = 500;

/** A throwaway project, with a client and a token. */
export class SandboxProject {
  #server;
  #path;
  #isRemoved = false;
  #toldBefore = "";

  /**
   * @param {import("./server.js").SandboxServer} server
   * @param {any} made the answer of the server
   */
  constructor(server, made) {
    this.#server = server;
    this.#path = `/sandbox/projects/${made.projectKey}`;
    /** @type {string} */
    this.key = made.projectKey;
    /** Of the service. @type {string} */
    this.serverUrl = server.url;
    /** Of the project; its resources are below `/resource`. @type {string} */
    this.url = `${server.url}/${this.key}`;
    /** Of the token endpoint. @type {string} */
    this.tokenUrl = server.tokenUrl;
    /** A bearer token of the client, with all its scopes. @type {string} */
    this.token = made.accessToken;
    /** @type {string} */
    this.clientId = made.clientId;
    /** @type {string} */
    this.clientSecret = made.clientSecret;
    /** What the client may ask for. @type {string} */
    this.scope = made.scope;
    /** The run that the project counts for. @type {string | null} */
    this.run = made.run ?? server.run;
  }

  // Faults

  /**
   * Order faults: all rules that match a request, and are due, act in their order until one gives an answer. An empty
   * list ends all.
   * @param {Rule[]} rules
   * @throws {SandboxError} for a rule that cannot be; the message names its place, and none is taken
   */
  async rules(rules) {
    await this.#order("PUT", "/rules", { rules });
  }

  /**
   * How often each rule has matched, and acted.
   * @returns {Promise<{ matched: number, acted: number }[]>}
   */
  async ruleCounts() {
    const { rules } = await this.#order("GET", "/rules");
    return rules.map((/** @type {any} */ { matched, acted }) => ({ matched, acted }));
  }

  // Time and chance

  /**
   * Set the clock that dates writes and decides whether tokens have expired. Without an argument: real time.
   * @param {import("./types.js").Clock} [clock]
   */
  async clock(clock = {}) {
    await this.#order("PUT", "/clock", clock);
  }

  /**
   * Let the ids of new resources be a sequence that repeats; without a seed, chance again.
   * @param {number} [seed]
   */
  async ids(seed) {
    await this.#order("PUT", "/ids", seed === undefined ? {} : { seed });
  }

  // State

  /**
   * Bring back what the project held when it was made, with clock and ids. Rules end and the journal is emptied.
   * @param {{ keep?: ("rules" | "requests")[] }} [options] `keep`: what stays
   */
  async reset(options = {}) {
    refuseOthers("reset", options, ["keep"]);
    const { keep = [] } = options;
    if (!keep.includes("requests")) this.#toldBefore += `${told((await this.journal()).reverse()) || "none"}\n(reset)\n`;
    await this.#order("POST", "/reset", { keep });
  }

  // What the client did

  /**
   * The requests of the project, newest first: each that was answered before, of the last 1,000.
   * @param {object} [only] requests with this method, path below the project, status or operation of the OpenAPI document
   * @param {string} [only.method]
   * @param {string} [only.path] without the query; `*` stands for any characters
   * @param {number} [only.status]
   * @param {string} [only.operationId]
   * @returns {Promise<JournalEntry[]>}
   */
  async journal(only = {}) {
    refuseOthers("journal", only, ["method", "path", "status", "operationId"]);
    const { method, path, status, operationId } = only;
    const narrowing = Object.entries({ method, operationId }).flatMap(([name, text]) => (text ? [[name, text]] : []));
    /** @type {JournalEntry[]} */
    const found = [];
    for (let offset = 0; offset < JOURNAL_LENGTH; offset += PAGE) {
      const query = new URLSearchParams({ ...Object.fromEntries(narrowing), limit: PAGE, offset });
      const { results } = await this.#order("GET", `/requests?${query}`);
      found.push(...results.map((/** @type {any} */ entry) => new JournalEntry(entry, this.key)));
      if (results.length < PAGE) break;
    }
    return found
      .filter((entry) => fits(path ?? "*", entry.path))
      .filter((entry) => status === undefined || entry.status === status);
  }

  /**
   * Ask the service whether the client has sent a request, and return all that fit, oldest first.
   * @param {string} method
   * @param {string} path below the project, as it was sent; in texts, `*` stands for any characters
   * @param {import("./types.js").Expectation} [expected]
   * @returns {Promise<JournalEntry[]>}
   * @throws {UnexpectedRequests} otherwise, with the nearest request and what is different in it
   */
  async expect(method, path, expected = {}) {
    const answer = await this.#server.order("POST", `${this.#path}/requests/expect`, order(method, path, expected), 409);
    if (answer.told) throw new UnexpectedRequests(answer.told);
    const entries = answer.requests.length ? (await this.journal()).reverse() : [];
    return entries.filter((entry) => answer.requests.includes(entry.number));
  }

  /**
   * The journal as text, for a test that failed: requests, also those before a reset, errors that were answered,
   * findings, what the client gave up, and the rules that have not acted.
   * @returns {Promise<string>}
   */
  async told() {
    const gaveUp = (await this.report()).told.split("\n").filter((line) => line.startsWith("gave up: "));
    const { rules } = await this.#order("GET", "/rules");
    const idle = rules.flatMap((/** @type {any} */ rule, /** @type {number} */ number) => rule.acted ? [] : [
      `\nrule ${rule.name ?? number} never acted, and matched ${rule.matched} requests.`]);
    return `requests to ${this.url}\n${this.#toldBefore}${[told((await this.journal()).reverse()) || "none", ...gaveUp].join("\n")}${idle.join("")}`;
  }

  /**
   * What the client does that works and should not be so.
   * @returns {Promise<import("./types.js").Finding[]>}
   */
  async findings() {
    return (await this.report()).findings;
  }

  /**
   * What the service has carried out for the client, how it dealt with faults, and the findings.
   * @returns {Promise<Report>}
   */
  async report() {
    return await this.#order("GET", "/report");
  }

  /**
   * The journal as a HAR 1.2 document, which browsers and other tools open.
   * @returns {Promise<any>}
   */
  async har() {
    return await this.#order("GET", "/requests.har");
  }

  // Tokens

  /**
   * Ask the token endpoint for another token, as a client does. It stands in the journal.
   * @param {string} [scope] names with or without the project: `view_test`; by default all that the client has
   * @returns {Promise<string>}
   */
  async newToken(scope) {
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: this.clientId,
      client_secret: this.clientSecret,
    });
    if (scope !== undefined) {
      form.set("scope", scope.split(/\s+/).map((name) => (name.includes(":") ? name : `${name}:${this.key}`)).join(" "));
    }
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const answer = await this.#server.send("POST", "/oauth/token", headers, String(form));
    if (answer.status !== 200) throw new SandboxError(`the token endpoint answered ${answer.status}: ${answer.body}`);
    return JSON.parse(answer.body).access_token;
  }

  /** Remove the project with everything in it. The server does it by itself after an hour. */
  async remove() {
    if (this.#isRemoved) return;
    await this.#order("DELETE", "");
    this.#isRemoved = true;
  }

  /** For `await using`. */
  async [Symbol.asyncDispose]() {
    await this.remove();
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body]
   */
  async #order(method, path, body) {
    return await this.#server.order(method, `${this.#path}${path}`, body);
  }
}
