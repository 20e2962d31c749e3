/** @typedef {import("./types.js").Rule} Rule */
/** @typedef {import("./types.js").ProjectOptions} ProjectOptions */
/** @typedef {import("./types.js").Expectation} Expectation */
/** @typedef {import("./types.js").Finding} Finding */
/** @typedef {import("./types.js").Report} Report */
/**
 * A server whose sandbox is on: the one that `SAMPLE_RESOURCE_URL` names, with `SANDBOX_TOKEN` if it has a token; else one
 * that the installed command `sample-resource` starts, once for all workers of a test run. It stops with the process of the
 * test runner, and its data are removed.
 * @param {object} [options]
 * @param {string} [options.run] that projects count for; by default `SAMPLE_RESOURCE_RUN`, else one of this test run
 * @returns {Promise<SandboxServer>}
 * @throws {import("./server.js").SandboxError} if there is none
 */
export function startServer(options?: {
    run?: string | undefined;
}): Promise<SandboxServer>;
/**
 * A throwaway project on the server of this test run, which is started if need be.
 * @param {ProjectOptions} [options] what it is made with
 * @returns {Promise<import("./project.js").SandboxProject>}
 */
export function makeProject(options?: ProjectOptions): Promise<import("./project.js").SandboxProject>;
export { UnexpectedRequests } from "./expected.js";
export { JournalEntry } from "./journal.js";
export { SandboxProject } from "./project.js";
export { withProject } from "./with-project.js";
export type Rule = import("./types.js").Rule;
export type ProjectOptions = import("./types.js").ProjectOptions;
export type Expectation = import("./types.js").Expectation;
export type Finding = import("./types.js").Finding;
export type Report = import("./types.js").Report;
import { SandboxServer } from "./server.js";
export { SandboxError, SandboxServer } from "./server.js";
