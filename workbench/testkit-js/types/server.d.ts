/** The server refused an order, or is not there; the message has its answer. */
export class SandboxError extends Error {
}
/** A running service whose sandbox is on. */
export class SandboxServer {
    /**
     * @param {string} url of the service
     * @param {object} [options]
     * @param {string} [options.token] `SANDBOX_TOKEN`, if the service has one
     * @param {string | null} [options.run] that projects belong to which are made; none: to no run
     */
    constructor(url: string, options?: {
        token?: string | undefined;
        run?: string | null | undefined;
    });
    /** Of the service, without a slash at its end. @type {string} */
    url: string;
    /** @type {string} */
    tokenUrl: string;
    /** @type {string | null} */
    run: string | null;
    /**
     * Make a throwaway project.
     * @param {import("./types.js").ProjectOptions} [options]
     * @returns {Promise<SandboxProject>}
     */
    makeProject(options?: import("./types.js").ProjectOptions): Promise<SandboxProject>;
    /**
     * Whether the clients of the run pass, and the report on them as text.
     * @param {object} [options]
     * @param {string[]} [options.allow] the ids of findings that are expected, such as `staleVersionRepeated`
     * @returns {Promise<{ passed: boolean, told: string }>}
     */
    verdict(options?: {
        allow?: string[] | undefined;
    }): Promise<{
        passed: boolean;
        told: string;
    }>;
    /**
     * Send a request to the sandbox, and return the JSON value of the answer; null if it has no body.
     * @param {string} method
     * @param {string} path from the URL of the service on
     * @param {unknown} [body] a value for a JSON body
     * @param {number} [also] a further status that is no error
     * @returns {Promise<any>}
     * @throws {SandboxError} for a status of 300 or more, since no redirect is followed, or without an answer
     */
    order(method: string, path: string, body?: unknown, also?: number): Promise<any>;
    /**
     * Status and body of the answer to a request, on a connection of its own. It does not use `fetch`, which tests replace.
     * @param {string} method
     * @param {string} path
     * @param {Record<string, string>} headers
     * @param {string} [body]
     * @returns {Promise<{ status: number, body: string }>}
     * @throws {SandboxError} without an answer
     */
    send(method: string, path: string, headers: Record<string, string>, body?: string): Promise<{
        status: number;
        body: string;
    }>;
    #private;
}
import { SandboxProject } from "./project.js";
