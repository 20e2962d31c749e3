/// <reference lib="esnext.disposable" preserve="true" />
/** A throwaway project, with a client and a token. */
export class SandboxProject {
    /**
     * @param {import("./server.js").SandboxServer} server
     * @param {any} made the answer of the server
     */
    constructor(server: import("./server.js").SandboxServer, made: any);
    /** @type {string} */
    key: string;
    /** Of the service. @type {string} */
    serverUrl: string;
    /** Of the project; its resources are below `/resource`. @type {string} */
    url: string;
    /** Of the token endpoint. @type {string} */
    tokenUrl: string;
    /** A bearer token of the client, with all its scopes. @type {string} */
    token: string;
    /** @type {string} */
    clientId: string;
    /** @type {string} */
    clientSecret: string;
    /** What the client may ask for. @type {string} */
    scope: string;
    /** The run that the project counts for. @type {string | null} */
    run: string | null;
    /**
     * Order faults: all rules that match a request, and are due, act in their order until one gives an answer. An empty
     * list ends all.
     * @param {Rule[]} rules
     * @throws {SandboxError} for a rule that cannot be; the message names its place, and none is taken
     */
    rules(rules: Rule[]): Promise<void>;
    /**
     * How often each rule has matched, and acted.
     * @returns {Promise<{ matched: number, acted: number }[]>}
     */
    ruleCounts(): Promise<{
        matched: number;
        acted: number;
    }[]>;
    /**
     * Set the clock that dates writes and decides whether tokens have expired. Without an argument: real time.
     * @param {import("./types.js").Clock} [clock]
     */
    clock(clock?: import("./types.js").Clock): Promise<void>;
    /**
     * Let the ids of new resources be a sequence that repeats; without a seed, chance again.
     * @param {number} [seed]
     */
    ids(seed?: number): Promise<void>;
    /**
     * Bring back what the project held when it was made, with clock and ids. Rules end and the journal is emptied.
     * @param {{ keep?: ("rules" | "requests")[] }} [options] `keep`: what stays
     */
    reset(options?: {
        keep?: ("rules" | "requests")[];
    }): Promise<void>;
    /**
     * The requests of the project, newest first: each that was answered before, of the last 1,000.
     * @param {object} [only] requests with this method, path below the project, status or operation of the OpenAPI document
     * @param {string} [only.method]
     * @param {string} [only.path] without the query; `*` stands for any characters
     * @param {number} [only.status]
     * @param {string} [only.operationId]
     * @returns {Promise<JournalEntry[]>}
     */
    journal(only?: {
        method?: string | undefined;
        path?: string | undefined;
        status?: number | undefined;
        operationId?: string | undefined;
    }): Promise<JournalEntry[]>;
    /**
     * Ask the service whether the client has sent a request, and return all that fit, oldest first.
     * @param {string} method
     * @param {string} path below the project, as it was sent; in texts, `*` stands for any characters
     * @param {import("./types.js").Expectation} [expected]
     * @returns {Promise<JournalEntry[]>}
     * @throws {UnexpectedRequests} otherwise, with the nearest request and what is different in it
     */
    expect(method: string, path: string, expected?: import("./types.js").Expectation): Promise<JournalEntry[]>;
    /**
     * The journal as text, for a test that failed: requests, also those before a reset, errors that were answered,
     * findings, what the client gave up, and the rules that have not acted.
     * @returns {Promise<string>}
     */
    told(): Promise<string>;
    /**
     * What the client does that works and should not be so.
     * @returns {Promise<import("./types.js").Finding[]>}
     */
    findings(): Promise<import("./types.js").Finding[]>;
    /**
     * What the service has carried out for the client, how it dealt with faults, and the findings.
     * @returns {Promise<Report>}
     */
    report(): Promise<Report>;
    /**
     * The journal as a HAR 1.2 document, which browsers and other tools open.
     * @returns {Promise<any>}
     */
    har(): Promise<any>;
    /**
     * Ask the token endpoint for another token, as a client does. It stands in the journal.
     * @param {string} [scope] names with or without the project: `view_test`; by default all that the client has
     * @returns {Promise<string>}
     */
    newToken(scope?: string): Promise<string>;
    /** Remove the project with everything in it. The server does it by itself after an hour. */
    remove(): Promise<void>;
    /** For `await using`. */
    [Symbol.asyncDispose](): Promise<void>;
    #private;
}
export type Rule = import("./types.js").Rule;
export type Report = import("./types.js").Report;
import { JournalEntry } from "./journal.js";
