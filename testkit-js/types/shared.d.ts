/**
 * When a process began, as the system says it; undefined if it has ended. Another process that gets its number later
 * began at another time.
 * @param {number} pid
 */
export function began(pid: number): string | undefined;
/**
 * The name of the run: `SAMPLE_RESOURCE_RUN`, or one that all workers of this runner make up alike.
 * @returns {string}
 */
export function runName(): string;
/**
 * The server of this run; whoever asks first starts it.
 * @param {string} image that is started if the command is not installed
 * @returns {Promise<{ url: string, token?: string }>}
 * @throws {SandboxError} if it does not start
 */
export function shared(image: string): Promise<{
    url: string;
    token?: string;
}>;
/** In the folder: `{"url": ..., "token": ...}` when the service is ready, `{"error": ...}` if it does not start. */
export const STATE: "state.json";
