// Requests to the sandbox's routes. The token of SANDBOX_TOKEN stays in this module's memory: a reload asks for it again.

export const root = document.documentElement.dataset.root;
export const needsToken = document.documentElement.dataset.needsToken === "true";

let token = null;

export function useToken(text) {
  token = text;
}

/** An answer that is no success. `status` is 0 if the service was not reached. */
export class Refused extends Error {
  constructor(status, body) {
    super(body?.message ?? (status ? `The service answered ${status}.` : "The service cannot be reached."));
    this.status = status;
    this.errors = body?.errors ?? [];
  }
}

function headersWith(more) {
  return token === null ? more : { ...more, Authorization: `Bearer ${token}` };
}

async function send(method, path, { body, accept = "application/json", headers = {}, signal } = {}) {
  let answer;
  try {
    answer = await fetch(`${root}/sandbox${path}`, {
      method,
      signal,
      cache: "no-store",
      credentials: "omit",
      headers: headersWith({ Accept: accept, ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers }),
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused(0);
  }
  if (!answer.ok) {
    const text = await answer.text().catch(() => "");
    let refused = null;
    try {
      refused = JSON.parse(text);
    } catch {
      // A proxy's page
    }
    throw new Refused(answer.status, refused);
  }
  return answer;
}

export async function call(method, path, body, signal) {
  const answer = await send(method, path, { body, signal });
  return answer.status === 204 ? null : answer.json();
}

export async function download(path, accept, name) {
  const answer = await send("GET", path, { accept });
  const url = URL.createObjectURL(await answer.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A request to the project's resources, for a shell. */
export const curlLine = (project, bearer) => `curl -i ${location.origin}${root}/${project}/resource -H "Authorization: Bearer ${bearer}"`;

const of = (project) => `/projects/${encodeURIComponent(project)}`;

export const projects = {
  list: (signal) => call("GET", "/projects", undefined, signal).then((page) => page.results),
  make: (order) => call("POST", "/projects", order),
  get: (key, signal) => call("GET", of(key), undefined, signal),
  remove: (key) => call("DELETE", of(key)),
  reset: (key, keep) => call("POST", `${of(key)}/reset`, { keep }),
  token: (key) => call("POST", `${of(key)}/tokens`),
  save: (key, name) => call("PUT", `${of(key)}/snapshots/${encodeURIComponent(name)}`),
  restore: (key, name) => call("POST", `${of(key)}/snapshots/${encodeURIComponent(name)}/restore`),
  clock: (key, order) => call("PUT", `${of(key)}/clock`, order),
  ids: (key, order) => call("PUT", `${of(key)}/ids`, order),
  rules: (key, signal) => call("GET", `${of(key)}/rules`, undefined, signal).then((list) => list.rules),
  setRules: (key, rules) => call("PUT", `${of(key)}/rules`, { rules }),
  report: (key, signal) => call("GET", `${of(key)}/report`, undefined, signal),
  resources: (key, query, signal) => call("GET", `${of(key)}/resources?${query}`, undefined, signal),
  saveReport: (key) => download(`${of(key)}/report`, "text/html", `${key}-report.html`),
  saveArchive: (key) => download(`${of(key)}/requests.har`, "application/json", `${key}.har`),
  async entries(key, signal) {
    const first = await call("GET", `${of(key)}/requests?limit=500`, undefined, signal);
    if (first.total <= 500) return first.results;
    const second = await call("GET", `${of(key)}/requests?limit=500&offset=500`, undefined, signal);
    const known = new Set(first.results.map((entry) => entry.number)); // requests may have come between the two
    return [...first.results, ...second.results.filter((entry) => !known.has(entry.number))];
  },
};

/** A token of the project: that of the tab which has made it, else a new one, which is remembered. */
export async function tokenOf(credentials, project) {
  const made = credentials.get(project) ?? {};
  if (!made.accessToken) credentials.set(project, { ...made, ...(await projects.token(project)) });
  return credentials.get(project).accessToken;
}

/** The events of a journal, from those behind `entries`, newest first; ends when the service closes the stream. */
export async function* events(key, entries, signal) {
  const open = entries.filter((entry) => entry.underWay).map((entry) => entry.number);
  const answer = await send("GET", `${of(key)}/requests`, {
    accept: "text/event-stream",
    headers: { "Last-Event-ID": [entries[0]?.number ?? 0, ...open].join(",") },
    signal,
  });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  yield { event: "open" };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
      }));
      if (fields.data) yield { event: fields.event, data: JSON.parse(fields.data) };
    }
  }
}
