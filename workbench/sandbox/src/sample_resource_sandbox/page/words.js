// What rules do, in words: for those that have no name, in the list of requests and in that of the rules.

const seconds = (ms) => `${Number((ms / 1000).toFixed(3))} s`;

const CONNECTIONS = {
  close: "closed without an answer",
  reset: "connection reset",
  truncate: "cut off in the middle",
  stall: "silent after the head",
  garbage: "no HTTP",
};
const BODIES = { truncatedJson: "JSON cut off", html: "a proxy's page", empty: "empty body", unknownFields: "unknown fields" };

/** What a rule is called: its name, else what it does and to which requests. */
export function ruleTitle(rule) {
  if (rule.name) return rule.name;
  const effects = [
    rule.delayMs && rule.connection !== "stall" && `${seconds(rule.delayMs)} slower`,
    rule.expireTokens && "tokens expire",
    rule.conflict && "another writer is faster",
    rule.limit && `429 above ${rule.limit.requests} in ${rule.limit.perSeconds} s`,
    rule.status && `${rule.status}`,
    typeof rule.body === "string" && BODIES[rule.body],
    rule.body && typeof rule.body === "object" && "a body of its own",
    rule.headers && `headers ${Object.keys(rule.headers).join(", ")}`,
    rule.connection && CONNECTIONS[rule.connection],
    rule.phase === "after" && "after it was carried out",
  ];
  return [effects.filter(Boolean).join(", "), which(rule.match ?? {}), when(rule.times ?? {})].filter(Boolean).join(" · ");
}

function which({ method, path, operationId, ...others }) {
  const operations = [operationId ?? []].flat();
  return [method, path, operations.length > 2 ? `${operations.length} operations` : operations.join(" or "),
    ...Object.keys(others).map((name) => `by ${name}`)].filter(Boolean).join(" ");
}

function when({ first, after }) {
  return [first && `first ${first}`, after && `after ${after}`].filter(Boolean).join(", ");
}

/** What was ordered for a request: the names of the rules that acted, or what they did to it if one has none. */
export function orderTitle({ rule }) {
  const names = rule.all.map(({ name }) => name);
  return names.length && names.every(Boolean) ? names.join(", ") : rule.did;
}
