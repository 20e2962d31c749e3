// A request of the journal once more: as a curl line for a shell, or sent from this page.

import { root } from "./api.js";

const SECRET = "(secret)";

/** Headers that curl and browsers make anew for their own connection. */
const OF_CONNECTION = new Set(["host", "connection", "content-length", "accept-encoding", "transfer-encoding", "keep-alive", "te",
  "expect", "x-correlation-id"]);

const quotedAsItIs = (text) => `'${text.replaceAll("'", "'\\''")}'`;

const targetOf = ({ target }) => (!root || target.startsWith(`${root}/`) ? target : root + target);

const isOfToken = ({ target }) => target.split("?")[0].endsWith("/oauth/token");

/** The headers to send, without what the journal does not keep. */
function headersOf({ headers }) {
  return headers.filter(([name, value]) => !OF_CONNECTION.has(name.toLowerCase()) && !value.includes(SECRET));
}

/** Why there is no curl line that sends the request; empty if there is one. */
export function whyNotCopied({ request }) {
  const { method, target, body } = request;
  if (body?.truncated) return "The journal has only the beginning of its body.";
  if (method === "HEAD" && body) return "curl sends no body with HEAD.";
  return target.startsWith("/") && !target.includes("#") ? "" : "curl would send another target.";
}

/** The request for a shell: `$TOKEN`, or `$CLIENT_ID` and `$CLIENT_SECRET`, stand for what the journal does not keep. */
export function curlOf({ request }) {
  const { method, body } = request;
  const variable = isOfToken(request) ? "CLIENT_SECRET" : "TOKEN";
  const quoted = (text) => quotedAsItIs(text).replaceAll(SECRET, `'"$${variable}"'`);
  const words = ["curl -i --path-as-is -g"];
  if (method === "HEAD") words[0] += " --head";
  else if (method !== "GET" || body) words[0] += ` -X ${quoted(method)}`;
  words.push(quoted(`${location.origin}${targetOf(request)}`));
  for (const [name, value] of headersOf(request)) {
    const scheme = name.toLowerCase() === "authorization" ? value.split(" ")[0] : null;
    if (scheme === null) words.push(`-H ${quoted(value ? `${name}: ${value}` : `${name};`)}`);
    else if (scheme.toLowerCase() === "basic") words.push('-u "$CLIENT_ID:$CLIENT_SECRET"');
    else words.push('-H "Authorization: Bearer $TOKEN"');
  }
  if (!body) return words.join(" \\\n  ");
  if (!request.headers.some(([name]) => name.toLowerCase() === "content-type")) words.push("-H 'Content-Type:'");
  // --data-raw takes no @ for a file.
  if (body.text !== undefined) return [...words, `--data-raw ${quoted(body.text)}`].join(" \\\n  ");
  return `echo ${body.base64} | base64 -d | ${[...words, "--data-binary @-"].join(" \\\n  ")}`;
}

/** Why this page cannot send the request again; empty if it can. */
export function whyNotRepeated({ request }) {
  const { method, body } = request;
  if (isOfToken(request)) return "The journal does not keep the client's secret.";
  if (body?.truncated) return whyNotCopied({ request });
  if (`${request.target}${body?.text ?? ""}`.includes(SECRET)) return "The journal does not keep its secrets.";
  if (body && ["GET", "HEAD"].includes(method)) return `Browsers send no body with ${method}.`;
  if (["TRACE", "CONNECT"].includes(method)) return `Browsers do not send ${method}.`;
  const target = targetOf(request);
  let url = null;
  try {
    url = new URL(location.origin + target);
  } catch {
    // No target that a browser knows
  }
  return url && url.pathname + url.search === target ? "" : "Browsers would send another target.";
}

/** Sends it again, with a token that is valid. The journal shows it under the correlation id that this returns. */
export function repeat({ request }, token) {
  const { method, body } = request;
  const headers = new Headers();
  for (const [name, value] of headersOf(request)) {
    if (name.toLowerCase() === "authorization") headers.set(name, `Bearer ${token}`);
    else headers.append(name, value);
  }
  const correlationId = `page-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  headers.set("X-Correlation-ID", correlationId);
  const bytes = body && (body.text ?? Uint8Array.from(atob(body.base64), (character) => character.charCodeAt(0)));
  const sent = fetch(targetOf(request), { method, headers, body: bytes ?? undefined, cache: "no-store", credentials: "omit", redirect: "manual" });
  sent.then((answer) => answer.arrayBuffer()).catch(() => {}); // the journal shows what became of it
  return correlationId;
}
