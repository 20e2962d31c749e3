/**
 * The name of the run: `SAMPLE_RESOURCE_RUN`, or one that all workers of this runner make up alike.
 * @returns {string}
 */
export function runName(): string;
/**
 * The URL of the server of this run; whoever asks first starts it.
 * @returns {Promise<string>}
 * @throws {SandboxError} if it does not start
 */
export function shared(): Promise<string>;
