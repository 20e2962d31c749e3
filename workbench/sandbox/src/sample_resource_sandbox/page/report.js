// The report: findings, how the client went on after faults, and what the service has carried out for it.

import { html, useState } from "./preact.js";
import { projects } from "./api.js";
import { Empty, useEvery } from "./parts.js";
import { Finding } from "./requests.js";

const TROUBLES = { 401: "401: token refused", 409: "409: version refused", 412: "412: entity tag refused", 429: "429: too many requests", 503: "503: not available", lost: "Answer lost" };
const OUTCOMES = { recovered: ["recovered", "good"], gaveUp: ["gave up", "some"], madeWorse: ["worse", "bad"], notJudged: ["not judged", "soft"] };

export function Report({ project, journal }) {
  const [report, setReport] = useState(null);
  useEvery(15_000, async (signal) => setReport(await projects.report(project, signal)), [project, journal.entries[0]?.number]);
  if (!report) return html`<p class="soft pad">Loading the report …</p>`;
  if (!report.requests) {
    return html`<${Empty} title="Nothing to report yet"><p>Run the tests of your client against this project. The report says how the client dealt with faults, and what it should not do.</p></${Empty}>`;
  }
  const { stories, findings, operations } = report;
  const times = (trouble, outcome) => stories.find((each) => each.trouble === trouble && each.outcome === outcome)?.times ?? 0;
  const notJudged = new Set(stories.filter((each) => each.outcome === "notJudged").flatMap(({ examples }) => examples.map((each) => each.reason)));
  return html`
    <dl class="sums">
      <div><dt>Requests</dt><dd>${report.requests}</dd></div>
      <div><dt>Operations</dt><dd>${operations.length}</dd><dd class="soft">carried out</dd></div>
      <div><dt>Kinds of findings</dt><dd>${findings.length}</dd><dd class="soft">${findings.reduce((sum, each) => sum + each.count, 0)} in all</dd></div>
    </dl>
    ${report.incomplete && html`<p class="soft">The service was started again meanwhile: earlier requests are not known any more.</p>`}
    <div class="columns">
      <section><h3>Recovery</h3><div class="scroll" tabindex="0" role="group" aria-label="Table of recovery"><table class="plain"><thead><tr><th scope="col">What went wrong</th>${Object.values(OUTCOMES).map(([title]) => html`<th scope="col" class="n">${title}</th>`)}</tr></thead>
        <tbody>${Object.entries(TROUBLES).map(([name, title]) => html`<tr><th scope="row">${title}</th>${Object.entries(OUTCOMES).map(([outcome, [, kind]]) => html`
          <td class="n ${times(name, outcome) ? kind : "soft"}">${times(name, outcome)}</td>`)}</tr>`)}</tbody></table></div>
        ${[...notJudged].map((reason) => html`<p class="soft">Not judged: ${reason}</p>`)}
      </section>
      <section><h3>Findings</h3>${findings.length ? findings.map((each) => html`<${Finding} finding=${{ ...each, title: `${each.title} (${each.count})` }} />`) : html`<p class="good">None.</p>`}</section>
    </div>
    <section><h3>Carried out</h3>
      <ul class="counts">${operations.map((each) => html`<li><span>${each.name}</span><span class="n">${each.times}</span></li>`)}</ul></section>`;
}
