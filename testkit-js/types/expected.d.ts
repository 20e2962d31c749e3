/**
 * The expected requests.
 * @param {string} method
 * @param {string | RegExp} path
 * @param {Expectation} expected
 * @param {JournalEntry[]} entries the journal, oldest first
 * @returns {JournalEntry[]}
 * @throws {UnexpectedRequests} if there are fewer or more
 */
export function verified(method: string, path: string | RegExp, expected: Expectation, entries: JournalEntry[]): JournalEntry[];
/**
 * Whether a path is the wanted one.
 * @param {string} path
 * @param {string | RegExp} wanted
 */
export function isAt(path: string, wanted: string | RegExp): boolean;
/** @typedef {import("./journal.js").JournalEntry} JournalEntry */
/** @typedef {import("./types.js").Expectation} Expectation */
/** A request was expected, and was not sent so often. The message has those that were sent, or the nearest one. */
export class UnexpectedRequests extends Error {
}
export type JournalEntry = import("./journal.js").JournalEntry;
export type Expectation = import("./types.js").Expectation;
