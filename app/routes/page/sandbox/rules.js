// Rules: the usual ones to switch on and off, and all that are in force with how often they acted.

import { html, useEffect, useState } from "./preact.js";
import { projects } from "./api.js";
import { Empty, Fault, useEvery } from "./parts.js";
import { remember, remembered } from "./place.js";

const WRITES = ["createOrUpdateResource", "createOrOverwriteResource", "overwriteResource", "updateResourceById", "deleteResourceById"];

const USUAL = [
  { about: "The next two requests are 503 with Retry-After: 1.", rule: { name: "503 twice, then fine", times: { first: 2 }, status: 503, retryAfter: 1 } },
  { about: "The next write is carried out; the client hears nothing.", rule: { name: "answer lost after commit", match: { operationId: WRITES }, times: { first: 1 }, phase: "after", connection: "close" } },
  { about: "Each answer comes 1.5 seconds later.", rule: { name: "1.5 s slow", delayMs: 1500 } },
  { about: "All tokens so far are invalid from the next request on.", rule: { name: "token expires", times: { first: 1 }, expireTokens: true } },
  { about: "More than ten requests a second are 429.", rule: { name: "10 requests a second", limit: { requests: 10, perSeconds: 1 } } },
  { about: "Another writer changes the resource just before the next write that expects a version: it is 409.", rule: { name: "409 once", times: { first: 1 }, conflict: true } },
  { about: "The next answer is a proxy's page with 502.", rule: { name: "proxy error page", times: { first: 1 }, status: 502, body: "html" } },
  { about: "The next answer is cut in the middle.", rule: { name: "body cut off", times: { first: 1 }, connection: "truncate" } },
  { about: "Answers have fields that nobody has seen. A client should not mind.", rule: { name: "unknown fields", body: "unknownFields" } },
];

const OWN = '{"name": "every third is slow", "times": {"every": 3}, "delayMs": 800}';

const asSent = ({ matched, acted, neverActs, ...rule }) => rule;

export function Rules({ project, journal }) {
  const [rules, setRules] = useState(null);
  const [error, setError] = useState(null);
  const [own, setOwn] = useState(remembered("rule", OWN));
  const load = async (signal) => setRules(await projects.rules(project, signal));
  useEvery(3000, load, [project, journal.entries[0]?.number]);
  useEffect(() => remember("rule", own), [own]);

  const change = async (next) => {
    try {
      await projects.setRules(project, next.map(asSent));
      setError(null);
      await load();
      return true;
    } catch (refused) {
      setError(refused);
      return false;
    }
  };
  const add = (event) => {
    event.preventDefault();
    try {
      change([...(rules ?? []), JSON.parse(own)]);
    } catch (fault) {
      setError(new Error(`This is no JSON: ${fault.message}`));
    }
  };
  const names = new Set((rules ?? []).map((rule) => rule.name));
  return html`<${Fault} error=${error} />
    <div class="columns">
      <section aria-labelledby="usual"><h3 id="usual">The usual ones</h3>
        <ul class="switches">${USUAL.map(({ about, rule }) => {
          const isOn = names.has(rule.name);
          const flip = () => change(isOn ? rules.filter((each) => each.name !== rule.name) : [...(rules ?? []), rule]);
          return html`<li><button type="button" role="switch" aria-checked=${String(isOn)} onClick=${flip} disabled=${rules === null}>
            <span class="knob" aria-hidden="true"></span><span><strong>${rule.name}</strong><span class="soft">${about}</span></span></button></li>`;
        })}</ul></section>
      <section aria-labelledby="inforce"><h3 id="inforce">In force</h3>
        <p class="soft">All that match a request and are due act on it in this order, until one gives an answer. A change lets all of them count anew.</p>
        ${rules?.length === 0 && html`<${Empty} title="No rules"><p>Answers are those of any other project. Switch a rule on, or write one.</p></${Empty}>`}
        <ol class="rules">${(rules ?? []).map((rule, index) => html`<li class="card">
          <div class="row"><strong>${rule.name ?? `Rule ${index}`}</strong><span class="grow"></span>
            <span class="soft">matched ${rule.matched}, acted ${rule.acted}</span>
            <button type="button" class="quiet" aria-label="Remove ${rule.name ?? `rule ${index}`}" onClick=${() => change(rules.filter((_, at) => at !== index))}>Remove</button></div>
          ${rule.neverActs && html`<p class="soft">It cannot act: ${rule.neverActs}</p>`}
          <pre tabindex="0" aria-label="Rule as JSON">${JSON.stringify(asSent(rule), null, 1).replace(/\n\s*/g, " ")}</pre></li>`)}</ol>
        ${rules?.length > 0 && html`<button type="button" onClick=${() => change([])}>End all rules</button>`}
        <form class="card" onSubmit=${add}><label for="own">A rule of your own, as JSON</label>
          <textarea id="own" rows="4" spellcheck=${false} value=${own} onInput=${(event) => setOwn(event.target.value)}></textarea>
          <button class="primary">Add the rule</button></form>
      </section>
    </div>`;
}
