// The report in short; the whole of it is a page that can be saved.

import { html, useState } from "./preact.js";
import { projects, root } from "./api.js";
import { Empty, Fault, useEvery } from "./parts.js";
import { Finding, marked } from "./requests.js";

const TROUBLES = { 401: "401: token refused", 409: "409: version refused", 429: "429: too many requests", 503: "503: not available", lost: "Answer lost" };
const OUTCOMES = { recovered: ["recovered", "good"], gaveUp: ["gave up", "some"], madeWorse: ["made it worse", "bad"] };

export function Report({ project, journal }) {
  const [report, setReport] = useState(null);
  const [error, setError] = useState(null);
  const [only, setOnly] = useState("");
  useEvery(15_000, async (signal) => setReport(await projects.report(project, signal)), [project, journal.entries[0]?.number]);
  if (!report) return html`<p class="soft pad">Loading the report …</p>`;
  if (!report.requests.total) {
    return html`<${Empty} title="Nothing to report yet"><p>Run the tests of your client against this project. The report says what they have exercised, and how the client dealt with faults.</p></${Empty}>`;
  }
  const { specification, recovery } = report;
  const save = () => projects.saveReport(project).catch(setError);
  const clauses = specification.clauses.filter((each) => each.state === only);
  return html`<${Fault} error=${error} />
    <dl class="sums">
      <div><dt>Specification</dt><dd>${specification.percent} %</dd><dd class="soft">${specification.exercised} of ${specification.observable} clauses</dd></div>
      <div><dt>Requests</dt><dd>${report.requests.total}</dd><dd class="soft">${report.requests.kept} kept</dd></div>
      <div><dt>Kinds of findings</dt><dd>${report.findings.length}</dd><dd class="soft">${report.findings.reduce((sum, each) => sum + each.count, 0)} in all</dd></div>
    </dl>
    <p><button type="button" onClick=${save}>Save the report as a page</button></p>
    <div class="columns">
      <section><h3>Recovery</h3><div class="scroll" tabindex="0" role="group" aria-label="Table of recovery"><table class="plain"><thead><tr><th scope="col">What went wrong</th>${Object.values(OUTCOMES).map(([title]) => html`<th scope="col" class="n">${title}</th>`)}</tr></thead>
        <tbody>${Object.entries(TROUBLES).map(([name, title]) => html`<tr><th scope="row">${title}</th>${Object.entries(OUTCOMES).map(([outcome, [, kind]]) => html`
          <td class="n ${recovery[name][outcome] ? kind : "soft"}">${recovery[name][outcome]}</td>`)}</tr>`)}</tbody></table></div>
        <h3>Notations</h3><ul class="counts">${report.notations.map((each) => html`<li class=${each.count ? "" : "soft"}><span>${each.title}</span><span class="n">${each.count}</span></li>`)}</ul>
        <h3>Operations</h3><ul class="counts">${report.operations.map((each) => html`<li><span>${each.operationId === "none" ? "unknown URL" : each.operationId}</span><span class="n">${each.count}</span></li>`)}</ul>
      </section>
      <section><h3>Findings</h3>${report.findings.length ? report.findings.map((each) => html`<${Finding} finding=${{ ...each, title: `${each.title} (${each.count})` }} />`) : html`<p class="good">None.</p>`}</section>
    </div>
    <section><h3 id="clauses">Specification</h3>
      <ul class="counts">${specification.profiles.map((each) => html`<li class=${each.exercised ? "" : "soft"}><span>${each.profile}</span><span class="n">${each.percent} %, ${each.exercised} of ${each.observable}</span></li>`)}</ul>
      <div class="kinds" role="group" aria-labelledby="clauses">${[["notExercised", "not exercised"], ["exercised", "exercised"], ["notObservable", "not observable"]].map(([state, title]) => html`
        <button type="button" aria-pressed=${String(only === state)} onClick=${() => setOnly(only === state ? "" : state)}>${
          specification.clauses.filter((each) => each.state === state).length} ${title}</button>`)}</div>
      <ul class="clauses">${clauses.map((each) => html`<li><a href="${root}/docs/specification#${each.number}">${each.number}</a> <span>${marked(each.text)}</span></li>`)}</ul></section>`;
}
