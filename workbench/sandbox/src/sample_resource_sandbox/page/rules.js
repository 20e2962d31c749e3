// Rules: the usual ones to switch on and off, and all that are in force with how often they acted.

import { html, useEffect, useState } from "./preact.js";
import { call, projects } from "./api.js";
import { Caret, Empty, Fault, messageOf, useEvery } from "./parts.js";
import { remember, remembered } from "./place.js";
import { ruleTitle } from "./words.js";

const WRITES = ["createOrUpdateResource", "createOrOverwriteResource", "overwriteResource", "updateResourceById", "deleteResourceById"];

const USUAL = [
  { about: "The next two requests are 503 with Retry-After: 1.", rule: { name: "503 twice, then fine", times: { first: 2 }, status: 503, retryAfter: 1 } },
  { about: "The next write is carried out; the client hears nothing.", rule: { name: "answer lost after commit", match: { operationId: WRITES }, times: { first: 1 }, phase: "after", connection: "close" } },
  { about: "Each answer comes 1.5 seconds later.", rule: { name: "1.5 s slow", delayMs: 1500 } },
  { about: "All tokens so far are invalid from the next request on.", rule: { name: "token expires", times: { first: 1 }, expireTokens: true } },
  { about: "More than ten requests a second are 429.", rule: { name: "10 requests a second", limit: { requests: 10, perSeconds: 1 } } },
  { about: "Another writer changes the resource just before the next write to it: with a version it is 409.", rule: { name: "another writer", times: { first: 1 }, conflict: true } },
  { about: "The next answer is a proxy's page with 502.", rule: { name: "proxy error page", times: { first: 1 }, status: 502, body: "html" } },
  { about: "The next answer is cut in the middle.", rule: { name: "body cut off", times: { first: 1 }, connection: "truncate" } },
  { about: "Answers have fields that nobody has seen. A client should not mind.", rule: { name: "unknown fields", body: "unknownFields" } },
];

const OWN = '{"name": "the third is slow", "times": {"after": 2, "first": 1}, "delayMs": 800}';

const asSent = ({ matched, acted, ...rule }) => rule;

/** Where a text of JSON ends to be one, as browsers tell it; line and column are counted from 1. */
function placeInJson(text, { message }) {
  const told = /line (\d+) column (\d+)/.exec(message);
  if (told) return { line: Number(told[1]), column: Number(told[2]) };
  const position = /position (\d+)/.exec(message);
  if (position || /end of/.test(message)) return placeOf(text, position ? Number(position[1]) : text.length);
  return null;
}

function placeOf(text, position) {
  const lines = text.slice(0, position).split("\n");
  return { line: lines.length, column: lines.at(-1).length + 1 };
}

/** Where the member of a path stands in a text of JSON: the first member of each name behind the one before. */
function placeOfMember(text, path) {
  let at = 0;
  for (const name of path) {
    const found = text.indexOf(JSON.stringify(name), at);
    if (found < 0) break;
    at = found;
  }
  return placeOf(text, at);
}

const IN_RULES = /rules -> (\d+)((?: -> [\w-]+)*)/;

/** What is wrong with a rule of one's own: as the service says, with its place in the text instead of in the whole list. */
function ownFault(text, number, refused) {
  const all = refused.errors?.length ? refused.errors.map(messageOf) : [refused.message];
  const found = all.map((message) => IN_RULES.exec(message)).find((each) => each && Number(each[1]) === number);
  const path = found?.[2].split(" -> ").filter(Boolean) ?? [];
  const reason = all.map((message) => message.replace(IN_RULES, (_, index, members) => [
    ...(Number(index) === number ? [] : [`rule ${index}`]), ...members.split(" -> ").filter(Boolean)].join(", ")).replace(/^: /, ""));
  return { reason: reason.join("\n"), ...(path.length ? placeOfMember(text, path) : {}) };
}

export function Rules({ project, journal }) {
  const [rules, setRules] = useState(null);
  const [error, setError] = useState(null);
  const load = async (signal) => setRules(await projects.rules(project, signal));
  useEvery(3000, load, [project, journal.entries[0]?.number]);

  const put = async (next) => {
    await projects.setRules(project, next.map(asSent));
    setError(null);
    await load();
  };
  const change = (next) => put(next).catch(setError);
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
          <div class="row"><strong>${index}: ${ruleTitle(rule)}</strong><span class="grow"></span>
            <span class="soft">matched ${rule.matched}, acted ${rule.acted}</span>
            <button type="button" class="quiet" aria-label="Remove rule ${index}: ${ruleTitle(rule)}" onClick=${() => change(rules.filter((_, at) => at !== index))}>Remove</button></div>
          <pre tabindex="0" aria-label="Rule ${index} as JSON">${JSON.stringify(asSent(rule), null, 1).replace(/\n\s*/g, " ")}</pre></li>`)}</ol>
        ${rules?.length > 0 && html`<button type="button" onClick=${() => change([])}>End all rules</button>`}
        <${Own} add=${(rule) => put([...(rules ?? []), rule])} number=${rules?.length ?? 0} />
      </section>
    </div>`;
}

/** A rule of one's own as JSON, with its members at hand. */
function Own({ add, number }) {
  const [text, setText] = useState(remembered("rule", OWN));
  const [fault, setFault] = useState(null);
  const [members, setMembers] = useState(null);
  const write = (next) => {
    setText(next);
    setFault(null);
    remember("rule", next);
  };
  /** The rule that stands in the field; undefined if it is none, and then the fault is shown. */
  const read = () => {
    try {
      const rule = JSON.parse(text);
      if (rule !== null && typeof rule === "object" && !Array.isArray(rule)) return rule;
      setFault({ reason: "A rule is a JSON object: {...}." });
    } catch (wrong) {
      setFault({ reason: "This is no JSON.", ...placeInJson(text, wrong) });
    }
    return undefined;
  };
  const submit = async (event) => {
    event.preventDefault();
    const rule = read();
    if (!rule) return;
    try {
      await add(rule);
      setFault(null);
    } catch (refused) {
      setFault(ownFault(text, number, refused));
    }
  };
  const flip = (name, example) => {
    const rule = text.trim() ? read() : {};
    if (!rule) return;
    const { [name]: present, ...others } = rule;
    write(JSON.stringify(present === undefined ? { ...rule, [name]: example } : others, null, 2));
  };
  const open = async () => {
    if (members) return;
    const { components } = await call("GET", "/openapi.json");
    setMembers(Object.entries(components.schemas.Rule.properties).filter(([, schema]) => !schema.readOnly));
  };
  const present = (name) => text.includes(`${JSON.stringify(name)}:`);
  return html`<form class="card" onSubmit=${submit}><label for="own">A rule of your own, as JSON</label>
    <textarea id="own" rows=${Math.min(16, Math.max(4, text.split("\n").length))} spellcheck=${false} value=${text} aria-invalid=${String(fault !== null)}
      aria-describedby=${fault ? "own-fault" : null} onInput=${(event) => write(event.target.value)}></textarea>
    <div role="alert">${fault && (fault.line ? html`<${Caret} id="own-fault" text=${text} ...${fault} />` : html`<${Fault} id="own-fault" error=${new Error(fault.reason)} />`)}</div>
    <button class="primary">Add the rule</button>
    <details onToggle=${open}><summary>Members of a rule</summary>
      <ul class="members">${(members ?? []).map(([name, { description, examples }]) => html`<li>
        <button type="button" aria-pressed=${String(present(name))} onClick=${() => flip(name, examples[0])}>${name}</button>
        <span class="soft">${description}</span></li>`)}</ul></details></form>`;
}
