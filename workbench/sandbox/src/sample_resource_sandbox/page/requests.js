// The journal: a list with filters, and one request with its answer, beside the request that it repeats.

import { Component, html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./preact.js";
import { curlLine, projects, root, tokenOf } from "./api.js";
import { Copy, Empty, Fault, Link, Status, milliseconds, pretty, time } from "./parts.js";
import { go } from "./place.js";
import { curlOf, repeat, whyNotCopied, whyNotRepeated } from "./repeat.js";
import { orderTitle } from "./words.js";

export function Requests({ journal, project, place, credentials }) {
  const { entries } = journal;
  const shown = useMemo(() => entries.filter((entry) => isShown(entry, place)), [entries, place]);
  const chosen = entries.find((entry) => entry.number === Number(place.entry));
  const [awaited, setAwaited] = useState(null);
  useEffect(() => {
    const came = awaited && entries.find((entry) => entry.correlationId === awaited);
    if (!came) return;
    setAwaited(null);
    go({ entry: came.number });
  }, [entries, awaited]);
  const close = (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || !chosen || event.target.value) return; // it clears a field first
    go({ entry: "" });
    setTimeout(() => document.querySelector(`.list [data-entry="${chosen.number}"]`)?.focus());
  };
  useLayoutEffect(() => { // useEffect waits for a paint; a key before that would close the request chosen before
    document.addEventListener("keydown", close);
    return () => document.removeEventListener("keydown", close);
  }, [chosen?.number]);
  const again = async (entry) => setAwaited(repeat(entry, await tokenOf(credentials, project)));
  if (journal.state === "loading") return html`<p class="soft pad">Loading the journal …</p>`;
  if (!entries.length) return html`<${NoRequests} project=${project} />`;
  return html`<${Filters} entries=${entries} shown=${shown} place=${place} project=${project} />
    <div class="split ${chosen ? "has-choice" : ""}">
      <${List} entries=${shown} chosen=${chosen?.number} project=${project} />
      ${chosen && html`<section class="detail" aria-label="Request and answer">
        <${Detail} entry=${chosen} before=${entries.find((entry) => entry.number === chosen.repeats)} onRepeat=${again} key=${chosen.number} /></section>`}
    </div>`;
}

function NoRequests({ project }) {
  const line = curlLine(project, "$TOKEN");
  return html`<${Empty} title="No requests yet">
    <p>Send one with your client, or with this line. The token is on the page <${Link} to=${{ view: "project" }}>Project</${Link}>.</p>
    <div class="with-button"><code class="line">${line}</code><${Copy} read=${() => line} label="Copy the curl line" /></div>
    <p class="soft">Requests stand here within a second.</p></${Empty}>`;
}

const groupOf = (entry) => (entry.underWay ? "under way" : entry.response === null ? "lost" : `${String(entry.response.status)[0]}xx`);

const operationOf = (entry) => entry.operationId ?? "none";

function isShown(entry, { status, operation, method, only, text }) {
  return (!status || groupOf(entry) === status)
    && (!operation || operationOf(entry) === operation)
    && (!method || entry.request.method === method)
    && (only !== "findings" || entry.findings.length > 0)
    && (only !== "ordered" || entry.rule !== null)
    && (!text || `${entry.request.target} ${entry.correlationId}`.toLowerCase().includes(text.toLowerCase()));
}

const NO_FILTER = { status: "", method: "", operation: "", only: "", text: "" };

function Filters({ entries, shown, place, project }) {
  const among = (read) => [...new Set(entries.map(read))].sort();
  const choice = (name, label, values) => html`<label><span>${label}</span>
    <select value=${place[name] ?? ""} onChange=${(event) => go({ [name]: event.target.value }, { replace: true })}>
      <option value="">all</option>${values.map(([value, title]) => html`<option value=${value}>${title}</option>`)}
    </select></label>`;
  const some = Object.keys(NO_FILTER).some((name) => place[name]);
  return html`<form class="filters" role="search" aria-label="Requests" onSubmit=${(event) => event.preventDefault()}>
    <label class="text"><span>Find</span><input type="search" value=${place.text ?? ""} placeholder="target or correlation id" spellcheck=${false}
      onInput=${(event) => go({ text: event.target.value }, { replace: true })} /></label>
    ${choice("status", "Status", among(groupOf).map((each) => [each, each]))}
    ${choice("method", "Method", among((entry) => entry.request.method).map((each) => [each, each]))}
    ${choice("operation", "Operation", among(operationOf).map((each) => [each, each === "none" ? "unknown URL" : each]))}
    ${choice("only", "Only", [["findings", "with findings"], ["ordered", "changed by a rule"]])}
    <output class="soft">${shown.length === entries.length ? `${entries.length}` : `${shown.length} of ${entries.length}`} requests</output>
    ${some && html`<button type="button" class="quiet" onClick=${() => go(NO_FILTER)}>Clear</button>`}
    <span class="grow"></span>
    <button type="button" class="quiet" onClick=${() => projects.saveArchive(project)}>Save as HAR</button>
  </form>`;
}

function List({ entries, chosen, project }) {
  const body = useRef();
  useEffect(() => {
    body.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const move = (event) => {
    const links = [...body.current.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    const next = links[{ ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key]];
    if (!next) return;
    event.preventDefault();
    next.focus();
    go({ entry: next.dataset.entry }, { replace: Boolean(chosen) }); // the back button leads to the list
  };
  if (!entries.length) return html`<${Empty} title="None of the requests"><p>All are hidden by the filters.</p></${Empty}>`;
  const stop = entries.some(({ number }) => number === chosen) ? chosen : entries[0].number;
  return html`<div class="list"><table>
    <caption class="hidden">Requests, newest first. Arrow keys move, Escape closes a request.</caption>
    <thead><tr><th scope="col" class="n">#</th><th scope="col">Request</th><th scope="col">Status</th><th scope="col" class="n wide-only">Took</th><th scope="col" class="wide-only">At (UTC)</th></tr></thead>
    <tbody ref=${body} onKeyDown=${move}>${entries.map((entry) => html`<${Row} entry=${entry} project=${project} isChosen=${entry.number === chosen} isStop=${entry.number === stop} key=${entry.number} />`)}</tbody>
  </table></div>`;
}

/** A row is drawn again only if its entry has changed. */
class Row extends Component {
  shouldComponentUpdate({ entry, isChosen, isStop }) {
    return entry !== this.props.entry || isChosen !== this.props.isChosen || isStop !== this.props.isStop;
  }

  render({ entry, project, isChosen, isStop }) {
    const { request, response, rule, findings } = entry;
    const target = request.target.startsWith(`/${project}/`) ? request.target.slice(project.length + 1) : request.target;
    const [path, ...query] = target.split(/(?=[?&])/);
    return html`<tr class=${isChosen ? "chosen" : ""} onClick=${(event) => event.target.closest("a") ?? event.currentTarget.querySelector("a").click()}>
      <td class="n soft">${entry.number}</td>
      <td class="what"><${Link} to=${{ entry: entry.number }} data-entry=${entry.number} tabindex=${isStop ? 0 : -1} aria-current=${isChosen ? "true" : null}><span class="method">${request.method}</span> <span class="target">${path}${
          query.map((part) => html`<wbr /><span class="query">${part}</span>`)}</span></${Link}>
        <span class="marks">${entry.repeats && html`<span class="mark" title="It repeats request ${entry.repeats}">again</span>`}
        ${rule && html`<span class="mark rule">${orderTitle(entry)}</span>`}
        ${findings.map((each) => html`<span class="mark finding">${each.title}</span>`)}</span></td>
      <td><${Status} status=${response?.status} /></td>
      <td class="n soft wide-only">${milliseconds(entry.durationMs)}</td>
      <td class="n soft wide-only">${time(entry.startedAt)}</td>
    </tr>`;
  }
}

// One request

function Detail({ entry, before, onRepeat }) {
  const head = useRef();
  const [error, setError] = useState(null);
  useEffect(() => {
    const pane = head.current.parentElement;
    pane.scrollTop = 0;
    if (!matchMedia("(max-width: 760px)").matches) return;
    head.current.scrollIntoView({ block: "start" }); // it takes the place of the list, from which it was picked
    head.current.focus({ preventScroll: true });
  }, []);
  const { request, response, rule, token, connection } = entry;
  const whyNot = whyNotRepeated(entry);
  const noCurl = whyNotCopied(entry);
  return html`
    <header class="detail-head" tabindex="-1" ref=${head}>
      <${Link} to=${{ entry: "" }} class="back">All requests</${Link}>
      <h3><span class="method">${request.method}</span> <span class="target">${request.target}</span></h3>
      <p class="facts"><${Status} status=${response?.status} /> ${milliseconds(entry.durationMs)} · ${entry.operationId ?? "unknown URL"} · request ${entry.number}
        ${connection && html` · ${connection.request === 1 ? "first" : `no. ${connection.request}`} on connection ${connection.number}`}</p>
      <p class="acts">${noCurl ? html`<span class="soft">No line for curl: ${noCurl}</span>` : html`<${Copy} read=${() => curlOf(entry)} name="Copy as curl" onRefused=${() => setError(new Error("The browser refuses to copy."))} />`}
        <button type="button" class="quiet" disabled=${whyNot !== ""} aria-describedby=${whyNot ? "why-not" : null} onClick=${() => onRepeat(entry).catch(setError)}>Repeat</button>
        ${whyNot && html`<span class="soft" id="why-not">${whyNot}</span>`}</p>
      <${Fault} error=${error} />
    </header>
    ${entry.findings.map((each) => html`<${Finding} finding=${each} />`)}
    ${rule && html`<div class="note rule"><h4>Changed by a rule: ${orderTitle(entry)}</h4>
      <p>${rule.carriedOut ? "The request was carried out" : "The request was not carried out"}${rule.replacedStatus ? `; its own answer was ${rule.replacedStatus}` : ""}.${
        rule.waitedMs ? ` The answer waited ${milliseconds(rule.waitedMs)}.` : ""}</p></div>`}
    ${before && html`<div class="note"><h4>It repeats request ${before.number}</h4>
      <p>${before.response === null ? "That one had no answer." : `That one was ${before.response.status}.`} This one came ${
        milliseconds(new Date(entry.startedAt) - new Date(before.startedAt))} later. <${Link} to=${{ entry: before.number }}>Show request ${before.number}</${Link}></p></div>`}
    <div class="sides">
      <${Message} title="Request" first="${request.method} ${request.target} ${request.httpVersion}" message=${request} />
      ${response
        ? html`<${Message} title="Answer" first="${request.httpVersion} ${response.status}" message=${response} />`
        : html`<section class="side"><h4>Answer</h4><p class="soft">${entry.underWay ? "The request is under way." : entry.clientGone ? "The client had closed the connection." : "None: the connection ended without one."}</p></section>`}
    </div>
    <dl class="about">
      <div><dt>Client</dt><dd>${entry.clientId ?? "unknown"}</dd></div>
      ${token && html`<div><dt>Token</dt><dd>${token.scopes.map((scope) => scope.split(":")[0]).join(", ")}; until ${token.expiresAt.slice(0, 16).replace("T", " ")}</dd></div>`}
      <div><dt>Correlation id</dt><dd class="code">${entry.correlationId}</dd></div>
      ${entry.projectTime && html`<div><dt>Project's time</dt><dd>${entry.projectTime}</dd></div>`}
    </dl>`;
}

function Clauses({ numbers }) {
  return numbers.map((number, index) => html`${index ? ", " : ""}<a href="${root}/docs/specification#${number}">${number}</a>`);
}

export function Finding({ finding }) {
  return html`<div class="note finding"><h4>${finding.title}</h4><p>${finding.detail}</p><p>${marked(finding.instead)}</p>
    ${finding.clauses.length > 0 && html`<p class="soft">Specification: <${Clauses} numbers=${finding.clauses} /></p>`}</div>`;
}

/** Text with `code` in it. */
export function marked(text) {
  return text.split("`").map((part, index) => (index % 2 ? html`<code>${part}</code>` : part));
}

function Message({ title, first, message }) {
  const head = [first, ...message.headers.map(([name, value]) => `${name}: ${value}`)].join("\n");
  const body = useMemo(() => textOf(message.body), [message]);
  return html`<section class="side"><h4>${title}</h4><pre tabindex="0" aria-label="${title}: head">${head}</pre>
    ${body === null ? html`<p class="soft">No body.</p>` : html`<pre tabindex="0" aria-label="${title}: body">${body}</pre>`}
    ${message.body?.truncated && html`<p class="soft">Cut: ${message.body.size ?? "an unknown number of"} bytes in all.</p>`}</section>`;
}

const textOf = (body) => (body === null ? null : body.text === undefined ? `(base64) ${body.base64}` : pretty(body.text));
