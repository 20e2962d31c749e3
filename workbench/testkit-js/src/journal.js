// What a client has sent: entries of the journal of a project.

/** A request that reached the server, and its answer. */
export class JournalEntry {
  /**
   * @param {any} data the entry as the server has it
   * @param {string} project the key of the project
   */
  constructor(data, project) {
    const { request, response, rule } = data;
    const [target, ...rest] = String(request.target).split("?");
    /** The whole entry as the server has it, with `findings` and others. @type {Record<string, any>} */
    this.data = data;
    /** Rises with the requests of a project, in the order of their arrival. @type {number} */
    this.number = data.number;
    /** @type {string} */
    this.method = request.method;
    /** Below the project and without the query, as it came: `/resource/key=a%2Fb`. @type {string} */
    this.path = (target ?? "").startsWith(`/${project}`) ? (target ?? "").slice(project.length + 1) : (target ?? "");
    /** What follows the question mark, as it came. @type {string} */
    this.query = rest.join("?");
    /** Whether the client was sent an answer; false for a connection that was closed or reset. @type {boolean} */
    this.answered = Boolean(response);
    /**
     * Of the answer. If the request was carried out and a rule withheld its answer, the status that was withheld; null if
     * it was not carried out and had no answer.
     * @type {number | null}
     */
    this.status = response ? response.status : (rule?.replacedStatus ?? null);
    /** Of the request, in their order and spelling; tokens are left out. @type {[string, string][]} */
    this.headers = request.headers ?? [];
    /** Of the request as text; null without one, or if it is no text. @type {string | null} */
    this.body = request.body?.text ?? null;
    /** @type {[string, string][]} */
    this.responseHeaders = response?.headers ?? [];
    /** @type {string | null} */
    this.responseBody = response?.body?.text ?? null;
    /** The rule that acted, as the server describes it; null if none did. @type {Record<string, any> | null} */
    this.rule = rule ?? null;
    /** What should not be so although it works. @type {import("./types.js").Finding[]} */
    this.findings = data.findings ?? [];
  }

  /**
   * The messages of the error that was answered, each with its code and, if it has one, its detailed message.
   * @returns {string[]}
   */
  get errors() {
    const listed = this.status !== null && this.status >= 400 ? parsed(this.responseBody)?.errors : undefined;
    if (!Array.isArray(listed)) return [];
    return listed.map((each) => {
      const texts = [each?.message, each?.detailedErrorMessage].filter(Boolean);
      return `${each?.code}: ${texts.join(" ")}`;
    });
  }

  toString() {
    const target = this.query ? `${this.path}?${this.query}` : this.path;
    return `${this.number}: ${this.method} ${target} -> ${this.data.outcome}`;
  }
}

/**
 * A journal for a reader: each request with the errors that it was answered, and what was found.
 * @param {JournalEntry[]} entries oldest first
 */
export function told(entries) {
  return entries.flatMap((entry) => [String(entry), ...remarks(entry)]).join("\n");
}

/** @param {JournalEntry} entry */
function remarks(entry) {
  const findings = entry.findings.map((found) => `finding: ${found.told}`);
  return [...entry.errors, ...findings].map((line) => `     ${line}`);
}

/**
 * The value of a JSON text; undefined if it is none.
 * @param {string | null} text
 * @returns {any}
 */
export function parsed(text) {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
