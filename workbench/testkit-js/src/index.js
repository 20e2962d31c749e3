// A sandbox for the tests of clients: throwaway projects on a real server.

import { refuseOthers } from "./options.js";
import { SandboxServer } from "./server.js";
import { runName, shared } from "./shared.js";

export { UnexpectedRequests } from "./expected.js";
export { JournalEntry } from "./journal.js";
export { SandboxProject } from "./project.js";
export { SandboxError, SandboxServer } from "./server.js";
export { withProject } from "./with-project.js";

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
export async function startServer(options = {}) {
  refuseOthers("startServer", options, ["run"]);
  const { run = runName() } = options;
  const { SAMPLE_RESOURCE_URL, SANDBOX_TOKEN = "" } = process.env;
  if (SAMPLE_RESOURCE_URL) return new SandboxServer(SAMPLE_RESOURCE_URL, { token: SANDBOX_TOKEN, run });
  return new SandboxServer(await shared(), { run });
}

/**
 * A throwaway project on the server of this test run, which is started if need be.
 * @param {ProjectOptions} [options] what it is made with
 * @returns {Promise<import("./project.js").SandboxProject>}
 */
export async function makeProject(options = {}) {
  return await (await startServer()).makeProject(options);
}
