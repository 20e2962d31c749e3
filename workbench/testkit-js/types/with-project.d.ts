/**
 * A test with a project of its own. If it fails, its error also says what the client sent.
 * @template {unknown[]} Rest
 * @overload
 * @param {(project: SandboxProject, ...rest: Rest) => unknown} test
 * @returns {(...rest: Rest) => Promise<void>}
 */
export function withProject<Rest extends unknown[]>(test: (project: SandboxProject, ...rest: Rest) => unknown): (...rest: Rest) => Promise<void>;
/**
 * @template {unknown[]} Rest
 * @overload
 * @param {import("./types.js").ProjectOptions} options what the project is made with
 * @param {(project: SandboxProject, ...rest: Rest) => unknown} test
 * @returns {(...rest: Rest) => Promise<void>}
 */
export function withProject<Rest extends unknown[]>(options: import("./types.js").ProjectOptions, test: (project: SandboxProject, ...rest: Rest) => unknown): (...rest: Rest) => Promise<void>;
export type SandboxProject = import("./project.js").SandboxProject;
