// For vitest: a fixture. `const test = base.extend({ project: projectFixture() })`

import { makeProject } from "./index.js";

/** @typedef {import("./project.js").SandboxProject} SandboxProject */
/** @typedef {{ task: { result?: { errors?: { message: string }[] | undefined } | undefined } }} Context of vitest, for a test */

/**
 * A fixture that gives each test a project of its own. If a test fails, its error also says what the client sent.
 * @param {import("./types.js").ProjectOptions} [options] what the project is made with
 */
export function projectFixture(options) {
  /**
   * vitest reads in the text of this function which fixtures it needs, so its first parameter is taken apart here.
   * @param {Context} context
   * @param {(project: SandboxProject) => Promise<void>} use
   */
  return async ({ task }, use) => {
    const project = await makeProject(options);
    await use(project);
    const error = task.result?.errors?.[0];
    if (!error) return await project.remove();
    error.message += `\n\n${await project.told().catch(String)}`;
    await project.remove().catch(() => {}); // the test's own error is the one to read
  };
}
