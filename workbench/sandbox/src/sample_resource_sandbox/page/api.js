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

async function send(method, path, { body, signal } = {}) {
  let answer;
  try {
    answer = await fetch(`${root}/sandbox${path}`, {
      method,
      signal,
      cache: "no-store",
      credentials: "omit",
      headers: headersWith({ Accept: "application/json", ...(body === undefined ? {} : { "Content-Type": "application/json" }) }),
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

async function download(path, name) {
  const answer = await send("GET", path);
  const url = URL.createObjectURL(await answer.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A request to the project's resources, for a shell. */
export const curlLine = (project, bearer) => `curl -i ${location.origin}${root}/${project}/resource -H "Authorization: Bearer ${bearer}"`;

const AT_ONCE = 500; // entries

const of = (project) => `/projects/${encodeURIComponent(project)}`;

export const projects = {
  list: (signal) => call("GET", "/projects", undefined, signal).then((page) => page.results),
  make: (order) => call("POST", "/projects", order),
  get: (key, signal) => call("GET", of(key), undefined, signal),
  remove: (key) => call("DELETE", of(key)),
  reset: (key, keep) => call("POST", `${of(key)}/reset`, { keep }),
  token: (key) => call("POST", `${of(key)}/tokens`),
  clock: (key, order) => call("PUT", `${of(key)}/clock`, order),
  ids: (key, order) => call("PUT", `${of(key)}/ids`, order),
  rules: (key, signal) => call("GET", `${of(key)}/rules`, undefined, signal).then((list) => list.rules),
  setRules: (key, rules) => call("PUT", `${of(key)}/rules`, { rules }),
  report: (key, signal) => call("GET", `${of(key)}/report`, undefined, signal),
  resources: (key, query, signal) => call("GET", `${of(key)}/resources?${query}`, undefined, signal),
  saveArchive: (key) => download(`${of(key)}/requests.har`, `${key}.har`),
  /** The entries with higher numbers, oldest first. */
  async after(key, number, signal) {
    const found = [];
    for (let results = [{ number }]; results.length;) {
      ({ results } = await call("GET", `${of(key)}/requests?limit=${AT_ONCE}&after=${results.at(-1).number}`, undefined, signal));
      found.push(...results);
      if (results.length < AT_ONCE) break;
    }
    return found;
  },
};

/** A token of the project: that of the tab which has made it, else a new one, which is remembered. */
export async function tokenOf(credentials, project) {
  const made = credentials.get(project) ?? {};
  if (!made.accessToken) credentials.set(project, { ...made, ...(await projects.token(project)) });
  return credentials.get(project).accessToken;
}
