/**
 * JSON.parse, with each integer beyond 2^53 as a BigInt: JSON.parse itself would round it.
 *
 * @param {string} text
 * @returns {any}
 */
export function parse(text: string): any;
/**
 * JSON.stringify, with a BigInt as a number.
 *
 * @param {unknown} value
 */
export function stringify(value: unknown): string;
/**
 * What a client shows of an answer that is no success.
 *
 * @param {number} status
 * @param {any} body as the client has read it
 * @param {{ get(name: string): string | null }} headers
 */
export function httpError(status: number, body: any, headers: {
    get(name: string): string | null;
}): {
    kind: string;
    status: number;
    code: any;
    message: any;
    currentVersion: any;
    retryAfterSeconds: number | undefined;
    errors: any;
};
/**
 * What a client on fetch raised that is no answer.
 *
 * @param {any} error
 */
export function raised(error: any): {
    kind: string;
    message: string;
};
/**
 * Answer messages until the input ends. Calls run at the same time.
 *
 * @param {{ client: string, version: string, operations?: string[], features?: string[] }} hello
 * @param {(opened: Opened) => any} open makes a client; undefined if it cannot get a token itself
 * @param {(client: any, operation: string, given: Values, body: any, opened: Opened) => Promise<any>} call
 *   makes a call, and answers with `result`, `error` or `unsupported`; what it throws becomes an error
 */
export function serve(hello: {
    client: string;
    version: string;
    operations?: string[];
    features?: string[];
}, open: (opened: Opened) => any, call: (client: any, operation: string, given: Values, body: any, opened: Opened) => Promise<any>): Promise<void>;
export type Values = Record<string, any>;
export type Opened = {
    url: string;
    projectKey: string;
    clientId: string;
    clientSecret: string;
    tokenUrl: string;
    scope: string;
    token: string | null;
    timeoutMs: number;
    attemptTimeoutMs?: number;
};
