/**
 * A fault, or another order for requests. The documentation of the sandbox describes all members.
 */
export type Rule = {
    /**
     * shown in the journal
     */
    name?: string;
    /**
     * which requests; all of them if it is left out
     */
    match?: Match;
    times?: {
        first?: number;
        after?: number;
    };
    /**
     * `after`: the request is carried out, and its answer is replaced or lost
     */
    phase?: "before" | "after";
    status?: number;
    code?: string;
    message?: string;
    /**
     * seconds
     */
    retryAfter?: number;
    /**
     * of the answer
     */
    headers?: Record<string, string>;
    body?: "truncatedJson" | "html" | "empty" | "unknownFields" | {
        json: unknown;
    } | {
        text: string;
        contentType?: string;
    };
    /**
     * another writer changes the resource just before
     */
    conflict?: boolean;
    delayMs?: number;
    connection?: "close" | "reset" | "truncate" | "stall" | "garbage";
    /**
     * 429 beyond
     */
    limit?: {
        requests: number;
        perSeconds: number;
    };
    expireTokens?: boolean;
};
/**
 * Which requests a rule is for; all members have to hold.
 */
export type Match = {
    /**
     * of the OpenAPI document; `getToken` for the token endpoint
     */
    operationId?: string | string[];
    method?: string;
    /**
     * the path below the project; `*` stands for any characters, as in the other texts
     */
    path?: string;
    query?: Record<string, string | string[] | boolean>;
    header?: Record<string, string | string[] | boolean>;
    /**
     * JSON that is in the body, or a text that is the whole body
     */
    body?: unknown;
};
export type Clock = {
    now?: string | Date;
    /**
     * ahead of real time, instead of `now`
     */
    offsetSeconds?: number;
    /**
     * false: it stands still
     */
    runs?: boolean;
};
/**
 * What a project is made with.
 */
export type ProjectOptions = {
    /**
     * one that nothing has used; made up if it is left out
     */
    projectKey?: string;
    /**
     * names such as `view_test`
     */
    scope?: string;
    ttlSeconds?: number;
    /**
     * how many made-up ones
     */
    resources?: number;
    /**
     * another project of the sandbox
     */
    copyOf?: string;
    /**
     * that the project counts for; by default that of this session of the test runner
     */
    run?: string;
    /**
     * the ids of findings that are expected, and not made
     */
    allow?: string[];
    clock?: Clock;
    ids?: {
        seed?: number;
    };
};
/**
 * Of a parameter or header: a value that it has, several of them, or whether it is there.
 */
export type Values = string | string[] | boolean;
/**
 * What is expected of a request beside method and path. What is left out may be anything.
 */
export type Expectation = {
    /**
     * how often: a number, or at least and at most (null: no bound); by
     * default at least once
     */
    times?: number | [number, number | null];
    /**
     * requests that came earlier
     */
    after?: import("./journal.js").JournalEntry | import("./journal.js").JournalEntry[];
    /**
     * of the answer
     */
    status?: number;
    /**
     * parameters by name
     */
    query?: Record<string, Values>;
    /**
     * by name, in any letter case
     */
    headers?: Record<string, Values>;
    /**
     * JSON whose members and items are in the body beside others; a text, which is the whole body;
     * null for no body
     */
    body?: unknown;
    /**
     * how long it may take, up to a minute
     */
    withinMs?: number;
    /**
     * how long it has to stay so, where there may be too many
     */
    settleMs?: number;
};
/**
 * What should not be so although it works.
 */
export type Finding = {
    id: string;
    title: string;
    /**
     * what to do
     */
    instead: string;
    /**
     * of the specification
     */
    clauses: string[];
    /**
     * all of it as a text; in a report also the requests, in lines
     */
    told: string;
    /**
     * of a finding in an entry of the journal
     */
    detail?: string;
    /**
     * of a finding in a report
     */
    count?: number;
};
/**
 * A report on a project.
 */
export type Report = {
    /**
     * that have ended
     */
    requests: number;
    /**
     * the service was started again meanwhile, and earlier requests are not known any more
     */
    incomplete: boolean;
    /**
     * that the service has carried out
     */
    operations: {
        name: string;
        times: number;
    }[];
    /**
     * how often the client has recovered, by what went wrong
     */
    recovered: Record<string, number>;
    stories: {
        trouble: string;
        outcome: "madeWorse" | "gaveUp" | "notJudged" | "recovered";
        times: number;
        examples: {
            projectKey: string;
            requests: number[];
            reason: string;
        }[];
    }[];
    findings: Finding[];
    /**
     * all of it as a text
     */
    told: string;
};
