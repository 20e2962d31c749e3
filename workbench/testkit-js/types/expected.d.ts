/**
 * The body of the request to the service.
 * @param {string} method
 * @param {string} path
 * @param {Expectation} expected
 */
export function order(method: string, path: string, expected: Expectation): {
    settleMs?: number;
    withinMs?: number;
    body?: {};
    header?: Record<string, import("./types.js").Values>;
    query?: Record<string, import("./types.js").Values>;
    status?: number;
    times?: number | {
        atLeast: number;
        atMost?: never;
    } | {
        atLeast: number;
        atMost: number;
    };
    after?: number;
    method: string;
    path: string;
};
/**
 * Whether a text is the wanted one, in which `*` stands for any characters.
 * @param {string} wanted
 * @param {string} text
 */
export function fits(wanted: string, text: string): boolean;
/** A request was expected, and was not sent so often. The message is the service's. */
export class UnexpectedRequests extends Error {
}
export type Expectation = import("./types.js").Expectation;
