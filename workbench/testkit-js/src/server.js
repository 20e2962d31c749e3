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
  async createProject(options = {}) {
    const order = this.run === null ? options : { run: this.run, ...options };
    return new SandboxProject(this, await this.order("POST", "/sandbox/projects", order));
  }

  /**
   * What all projects of the run have exercised together, as an object. Its `gate` says whether that is as good as asked.
   * @param {import("./types.js").ReportOptions} [options]
   * @returns {Promise<import("./types.js").Report>}
   */
  async report(options) {
    return JSON.parse(await this.reportAs("application/json", options));
  }

  /**
   * The same as text.
   * @param {"application/json" | "text/html"} mediaType
   * @param {import("./types.js").ReportOptions} [options] as for `report`
   * @returns {Promise<string>}
   */
  async reportAs(mediaType, options = {}) {
    if (this.run === null) throw new SandboxError("the projects of this server belong to no run");
    const query = new URLSearchParams();
    for (const [name, given] of Object.entries(options)) {
      for (const value of [given ?? []].flat()) query.append(name, String(value));
    }
    return await this.#answered("GET", `/sandbox/runs/${encodeURIComponent(this.run)}/report?${query}`, undefined, mediaType);
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
    const text = await this.#answered(method, path, body, undefined, also);
    return text ? JSON.parse(text) : null;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} body
   * @param {string} [accept]
   * @param {number} [also]
   */
  async #answered(method, path, body, accept = "application/json", also = 0) {
    /** @type {Record<string, string>} */
    const headers = { Accept: accept };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (this.#token) headers.Authorization = `Bearer ${this.#token}`;
    const answer = await this.send(method, path, headers, body === undefined ? undefined : JSON.stringify(body));
    if (answer.status >= 300 && answer.status !== also) {
      throw new SandboxError(`${method} ${this.url}${path} was answered ${answer.status}: ${answer.body}`);
    }
    return answer.body;
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
