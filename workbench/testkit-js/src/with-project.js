// For node:test and every other runner whose tests are functions: `test("...", withProject(async (project) => ...))`

import { makeProject } from "./index.js";

/** @typedef {import("./project.js").SandboxProject} SandboxProject */

/**
 * A test with a project of its own. If it fails, its error also says what the client sent.
 * @template {unknown[]} Rest
 * @overload
 * @param {(project: SandboxProject, ...rest: Rest) => unknown} test
 * @returns {(...rest: Rest) => Promise<void>}
 */
/**
 * @template {unknown[]} Rest
 * @overload
 * @param {import("./types.js").ProjectOptions} options what the project is made with
 * @param {(project: SandboxProject, ...rest: Rest) => unknown} test
 * @returns {(...rest: Rest) => Promise<void>}
 */
/**
 * @param {...any} given
 */
export function withProject(...given) {
  const test = given.pop();
  const [options] = given;
  // Without named parameters, since runners take a function that has some for one that calls back.
  return async (/** @type {unknown[]} */ ...rest) => {
    const project = await makeProject(options);
    try {
      await test(project, ...rest);
    } catch (error) {
      const told = await withRequests(error, project);
      await project.remove().catch(() => {}); // the test's own error is the one to read
      throw told;
    }
    await project.remove();
  };
}

/**
 * An error whose message has the requests too.
 * @param {unknown} error
 * @param {SandboxProject} project
 */
async function withRequests(error, project) {
  const told = await project.told().catch(String);
  if (!(error && typeof error === "object" && "message" in error)) return new Error(`${error}\n\n${told}`, { cause: error });
  const { message, stack } = /** @type {Error} */ (error);
  error.message = `${message}\n\n${told}`;
  // The stack begins with the message, and is what runners print.
  if (typeof stack === "string") Object.assign(error, { stack: stack.replace(message, () => String(error.message)) });
  return error;
}
