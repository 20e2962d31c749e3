/**
 * The body of the request to the service.
 * @param {string} method
 * @param {string | RegExp} path
 * @param {Expectation} expected
 */
export function order(method: string, path: string | RegExp, { times, after, status, query, headers, body, withinMs }: Expectation): {
    withinMs?: number;
    body?: {} | undefined;
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
 * What the service answers to what is not so, for a reader.
 * @param {any} answer
 * @param {import("./journal.js").JournalEntry[]} found the requests that fit
 * @param {string} project its key
 */
export function unmet({ message, nearest: [nearest] }: any, found: import("./journal.js").JournalEntry[], project: string): string;
/**
 * Whether a path is the wanted one.
 * @param {string} path
 * @param {string | RegExp} wanted
 */
export function isAt(path: string, wanted: string | RegExp): boolean;
/** @typedef {import("./types.js").Expectation} Expectation */
/** A request was expected, and was not sent so often. The message has the nearest one if none fits. */
export class UnexpectedRequests extends Error {
}
export type Expectation = import("./types.js").Expectation;
