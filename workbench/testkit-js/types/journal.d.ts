/**
 * A journal for a reader: each request with the errors that it was answered, and what was found.
 * @param {JournalEntry[]} entries oldest first
 */
export function told(entries: JournalEntry[]): string;
/**
 * The value of a JSON text; undefined if it is none.
 * @param {string | null} text
 * @returns {any}
 */
export function parsed(text: string | null): any;
/** A request that reached the server, and its answer. */
export class JournalEntry {
    /**
     * @param {any} data the entry as the server has it
     * @param {string} project the key of the project
     */
    constructor(data: any, project: string);
    /** The whole entry as the server has it, with `findings` and others. @type {Record<string, any>} */
    data: Record<string, any>;
    /** Rises with the requests of a project, in the order of their arrival. @type {number} */
    number: number;
    /** @type {string} */
    method: string;
    /** Below the project and without the query, as it came: `/resource/key=a%2Fb`. @type {string} */
    path: string;
    /** What follows the question mark, as it came. @type {string} */
    query: string;
    /** Whether the client was sent an answer; false for a connection that was closed or reset. @type {boolean} */
    answered: boolean;
    /**
     * Of the answer. If the request was carried out and a rule withheld its answer, the status that was withheld; null if
     * it was not carried out and had no answer.
     * @type {number | null}
     */
    status: number | null;
    /** Of the request, in their order and spelling; tokens are left out. @type {[string, string][]} */
    headers: [string, string][];
    /** Of the request as text; null without one, or if it is no text. @type {string | null} */
    body: string | null;
    /** @type {[string, string][]} */
    responseHeaders: [string, string][];
    /** @type {string | null} */
    responseBody: string | null;
    /** The rule that acted, as the server describes it; null if none did. @type {Record<string, any> | null} */
    rule: Record<string, any> | null;
    /** What should not be so although it works. @type {import("./types.js").Finding[]} */
    findings: import("./types.js").Finding[];
    /**
     * The messages of the error that was answered, each with its code and, if it has one, its detailed message.
     * @returns {string[]}
     */
    get errors(): string[];
    toString(): string;
}
