// The report in short; the whole of it is a page that can be saved.

import { html, useState } from "./preact.js";
import { projects } from "./api.js";
import { Empty, Fault, useEvery } from "./parts.js";
import { Finding } from "./requests.js";

const TROUBLES = { 401: "401: token refused", 409: "409: version refused", 429: "429: too many requests", 503: "503: not available", lost: "Answer lost" };
const OUTCOMES = { recovered: ["recovered", "good"], gaveUp: ["gave up", "some"], madeWorse: ["worse", "bad"], notJudged: ["not judged", "soft"] };

export function Report({ project, journal }) {
  const [report, setReport] = useState(null);
  const [error, setError] = useState(null);
  const [only, setOnly] = useState("");
  useEvery(15_000, async (signal) => setReport(await projects.report(project, signal)), [project, journal.entries[0]?.number]);
  if (!report) return html`<p class="soft pad">Loading the report …</p>`;
  if (!report.requests.total) {
    return html`<${Empty} title="Nothing to report yet"><p>Run the tests of your client against this project. The report says what they have exercised, and how the client dealt with faults.</p></${Empty}>`;
  }
  const { exercised, recovery } = report;
  const save = () => projects.saveReport(project).catch(setError);
  const shown = exercised[only];
  const notJudged = new Set(Object.values(recovery).flatMap(({ episodes }) => episodes.filter((each) => each.outcome === "notJudged").map((each) => each.reason)));
  return html`<${Fault} error=${error} />
    <dl class="sums">
      <div><dt>Exercised</dt><dd>${report.percent} %</dd><dd class="soft">of what can be</dd></div>
      <div><dt>Requests</dt><dd>${report.requests.total}</dd></div>
      <div><dt>Kinds of findings</dt><dd>${report.findings.length}</dd><dd class="soft">${report.findings.reduce((sum, each) => sum + each.count, 0)} in all</dd></div>
    </dl>
    ${report.incomplete && html`<p class="soft">${report.gate.told}</p>`}
    <p><button type="button" onClick=${save}>Save the report as a page</button></p>
    <div class="columns">
      <section><h3>Recovery</h3><div class="scroll" tabindex="0" role="group" aria-label="Table of recovery"><table class="plain"><thead><tr><th scope="col">What went wrong</th>${Object.values(OUTCOMES).map(([title]) => html`<th scope="col" class="n">${title}</th>`)}</tr></thead>
        <tbody>${Object.entries(TROUBLES).map(([name, title]) => html`<tr><th scope="row">${title}</th>${Object.entries(OUTCOMES).map(([outcome, [, kind]]) => html`
          <td class="n ${recovery[name][outcome] ? kind : "soft"}">${recovery[name][outcome]}</td>`)}</tr>`)}</tbody></table></div>
        ${[...notJudged].map((reason) => html`<p class="soft">Not judged: ${reason}</p>`)}
      </section>
      <section><h3>Findings</h3>${report.findings.length ? report.findings.map((each) => html`<${Finding} finding=${{ ...each, title: `${each.title} (${each.count})` }} />`) : html`<p class="good">None.</p>`}</section>
    </div>
    <section><h3 id="exercised">Exercised</h3>
      <div class="kinds" role="group" aria-labelledby="exercised">${Object.entries(exercised).map(([kind, each]) => html`
        <button type="button" aria-pressed=${String(only === kind)} onClick=${() => setOnly(only === kind ? "" : kind)}>${kind} ${each.percent} %</button>`)}</div>
      ${shown && html`<ul class="counts">${shown.met.map((each) => html`<li><span>${each.name}</span><span class="n">${each.times}</span></li>`)}
        ${shown.notMet.map((name) => html`<li class="soft"><span>${name}</span><span class="n">0</span></li>`)}</ul>`}</section>`;
}
