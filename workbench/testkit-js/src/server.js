// A running service whose sandbox is on.

import { request as requestByHttp } from "node:http";
import { request as requestByHttps } from "node:https";

import { refuseOthers } from "./options.js";
import { SandboxProject } from "./project.js";

const TIMEOUT_MS = 75_000;

/** The server refused an order, or is not there; the message has its answer. */
export class SandboxError extends Error {
  name = "SandboxError";
}

/** A running service whose sandbox is on. */
export class SandboxServer {
  /** @type {string} */
  #token;

  /**
   * @param {string} url of the service
   * @param {object} [options]
   * @param {string} [options.token] `SANDBOX_TOKEN`, if the service has one
   * @param {string | null} [options.run] that projects belong to which are made; none: to no run
   */
  constructor(url, options = {}) {
    refuseOthers("SandboxServer", options, ["token", "run"]);
    const { token = "", run = null } = options;
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new TypeError(`${JSON.stringify(url)} is no URL with http:// or https:// and a host`);
    }
    /** Of the service, without a slash at its end. @type {string} */
    this.url = url.replace(/\/+$/, "");
    /** @type {string} */
    this.tokenUrl = `${this.url}/oauth/token`;
    /** @type {string | null} */
    this.run = run;
    this.#token = token;
  }

  /**
   * Make a throwaway project.
   * @param {import("./types.js").ProjectOptions} [options]
   * @returns {Promise<SandboxProject>}
   */
  async makeProject(options = {}) {
    const order = this.run === null ? options : { run: this.run, ...options };
    return new SandboxProject(this, await this.order("POST", "/sandbox/projects", order));
  }

  /**
   * Whether the clients of the run pass, and the report on them as text.
   * @param {object} [options]
   * @param {string[]} [options.allow] the ids of findings that are expected, such as `staleVersionRepeated`
   * @returns {Promise<{ passed: boolean, told: string }>}
   */
  async verdict(options = {}) {
    refuseOthers("verdict", options, ["allow"]);
    if (this.run === null) throw new SandboxError("the projects of this server belong to no run");
    const query = new URLSearchParams();
    for (const each of options.allow ?? []) query.append("allow", each);
    const { status, body } = await this.#answered("GET", `/sandbox/runs/${encodeURIComponent(this.run)}/verdict?${query}`, undefined, 409);
    return { passed: status === 200, told: body.trimEnd() };
  }

  /**
   * Send a request to the sandbox, and return the JSON value of the answer; null if it has no body.
   * @param {string} method
   * @param {string} path from the URL of the service on
   * @param {unknown} [body] a value for a JSON body
   * @param {number} [also] a further status that is no error
   * @returns {Promise<any>}
   * @throws {SandboxError} for a status of 300 or more, since no redirect is followed, or without an answer
   */
  async order(method, path, body, also) {
    const answer = await this.#answered(method, path, body, also);
    return answer.body ? JSON.parse(answer.body) : null;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} body
   * @param {number} [also]
   */
  async #answered(method, path, body, also = 0) {
    /** @type {Record<string, string>} */
    const headers = { Accept: "application/json" };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (this.#token) headers.Authorization = `Bearer ${this.#token}`;
    const answer = await this.send(method, path, headers, body === undefined ? undefined : JSON.stringify(body));
    if (answer.status >= 300 && answer.status !== also) {
      const isOff = answer.status === 404 && path === "/sandbox/projects";
      const off = isOff ? `${this.url} has no sandbox: start the service with SANDBOX=on. ` : "";
      throw new SandboxError(`${off}${method} ${this.url}${path} was answered ${answer.status}: ${answer.body}`);
    }
    return answer;
  }

  /**
   * Status and body of the answer to a request, on a connection of its own. It does not use `fetch`, which tests replace.
   * @param {string} method
   * @param {string} path
   * @param {Record<string, string>} headers
   * @param {string} [body]
   * @returns {Promise<{ status: number, body: string }>}
   * @throws {SandboxError} without an answer
   */
  send(method, path, headers, body) {
    const url = `${this.url}${path}`;
    const request = url.startsWith("https:") ? requestByHttps : requestByHttp;
    return new Promise((resolve, reject) => {
      const fail = (/** @type {Error} */ error) => {
        reject(new SandboxError(`${method} ${url} was not answered: ${error.message || error}`, { cause: error }));
      };
      const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
      const options = { method, headers: { ...headers, ...length }, agent: false, timeout: TIMEOUT_MS };
      const sent = request(url, options, (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (part) => (text += part));
        answer.on("error", fail);
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body: text }));
      });
      sent.on("timeout", () => sent.destroy(new Error(`not within ${TIMEOUT_MS / 1000} s`)));
      sent.on("error", fail);
      sent.end(body);
    });
  }
}
