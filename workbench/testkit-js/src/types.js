// What the functions of this package take and give, for people and for the compiler. Nothing of this file is executed.

/**
 * A fault, or another order for requests. The documentation of the sandbox describes all members.
 * @typedef {object} Rule
 * @property {string} [name] shown in the journal
 * @property {Match} [match] which requests; all of them if it is left out
 * @property {{ first?: number, after?: number }} [times]
 * @property {"before" | "after"} [phase] `after`: the request is carried out, and its answer is replaced or lost
 * @property {number} [status]
 * @property {string} [code]
 * @property {string} [message]
 * @property {number} [retryAfter] seconds
 * @property {Record<string, string>} [headers] of the answer
 * @property {"truncatedJson" | "html" | "empty" | "unknownFields" | { json: unknown } | { text: string, contentType?: string }} [body]
 * @property {boolean} [conflict] another writer changes the resource just before
 * @property {number} [delayMs]
 * @property {"close" | "reset" | "truncate" | "stall" | "garbage"} [connection]
 * @property {{ requests: number, perSeconds: number }} [limit] 429 beyond
 * @property {boolean} [expireTokens]
 */

/**
 * Which requests a rule is for; all members have to hold.
 * @typedef {object} Match
 * @property {string | string[]} [operationId] of the OpenAPI document; `getToken` for the token endpoint
 * @property {string} [method]
 * @property {string} [path] the path below the project; `*` stands for any characters, as in the other texts
 * @property {Record<string, string | string[] | boolean>} [query]
 * @property {Record<string, string | string[] | boolean>} [header]
 * @property {unknown} [body] JSON that is in the body, or a text that is the whole body
 */

/**
 * @typedef {object} Clock
 * @property {string | Date} [now]
 * @property {number} [offsetSeconds] ahead of real time, instead of `now`
 * @property {boolean} [runs] false: it stands still
 */

/**
 * What a project is made with.
 * @typedef {object} ProjectOptions
 * @property {string} [projectKey] one that nothing has used; made up if it is left out
 * @property {string} [scope] names such as `view_test`
 * @property {number} [ttlSeconds]
 * @property {number} [resources] how many made-up ones
 * @property {string} [copyOf] another project of the sandbox
 * @property {string} [run] that the project counts for; by default that of this session of the test runner
 * @property {string[]} [allow] the ids of findings that are expected, and not made
 * @property {Clock} [clock]
 * @property {{ seed?: number }} [ids]
 */

/**
 * Of a parameter or header: a value that it has, several of them, or whether it is there.
 * @typedef {string | string[] | boolean} Values
 */

/**
 * What is expected of a request beside method and path. What is left out may be anything.
 * @typedef {object} Expectation
 * @property {number | [number, number | null]} [times] how often: a number, or at least and at most (null: no bound); by
 *   default at least once
 * @property {import("./journal.js").JournalEntry | import("./journal.js").JournalEntry[]} [after] requests that came earlier
 * @property {number} [status] of the answer
 * @property {Record<string, Values>} [query] parameters by name
 * @property {Record<string, Values>} [headers] by name, in any letter case
 * @property {unknown} [body] JSON whose members and items are in the body beside others; a text, which is the whole body;
 *   null for no body
 * @property {number} [withinMs] how long it may take, up to a minute
 * @property {number} [settleMs] how long it has to stay so, where there may be too many
 */

/**
 * What should not be so although it works.
 * @typedef {object} Finding
 * @property {string} id
 * @property {string} title
 * @property {string} instead what to do
 * @property {string[]} clauses of the specification
 * @property {string} told all of it as a text; in a report also the requests, in lines
 * @property {string} [detail] of a finding in an entry of the journal
 * @property {number} [count] of a finding in a report
 */

/**
 * A report on a project.
 * @typedef {object} Report
 * @property {number} requests that have ended
 * @property {boolean} incomplete the service was started again meanwhile, and earlier requests are not known any more
 * @property {{ name: string, times: number }[]} operations that the service has carried out
 * @property {Record<string, number>} recovered how often the client has recovered, by what went wrong
 * @property {{ trouble: string, outcome: "madeWorse" | "gaveUp" | "notJudged" | "recovered", times: number,
 *   examples: { projectKey: string, requests: number[], reason: string }[] }[]} stories
 * @property {Finding[]} findings
 * @property {string} told all of it as a text
 */

export {};
