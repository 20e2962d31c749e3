/** @typedef {import("./project.js").SandboxProject} SandboxProject */
/** @typedef {{ task: { result?: { errors?: { message: string }[] | undefined } | undefined } }} Context of vitest, for a test */
/**
 * A fixture that gives each test a project of its own. If a test fails, its error also says what the client sent.
 * @param {import("./types.js").ProjectOptions} [options] what the project is made with
 */
export function projectFixture(options?: import("./types.js").ProjectOptions): ({ task }: Context, use: (project: SandboxProject) => Promise<void>) => Promise<void>;
export type SandboxProject = import("./project.js").SandboxProject;
/**
 * of vitest, for a test
 */
export type Context = {
    task: {
        result?: {
            errors?: {
                message: string;
            }[] | undefined;
        } | undefined;
    };
};
