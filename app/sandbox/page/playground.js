// Predicates and filters while they are typed: where they are wrong, what they are parsed to, and what serves them.

import { html, useEffect, useRef, useState } from "./preact.js";
import { projects } from "./api.js";
import { Caret, Fault } from "./parts.js";
import { remember, remembered } from "./place.js";

const KINDS = {
  where: { title: "where", operation: "listResourcesSorted", example: 'arrayOfStringExample contains any ("dog", "cat")\nand version > 1' },
  filter: { title: "filter", operation: "searchResources", example: "arrayOfIntExample:range(1 to 20)" },
  "filter.query": { title: "filter.query", operation: "searchResources", example: "key:exists" },
  facet: { title: "facet", operation: "searchResources", example: "arrayOfFloatExample:range(* to 50),(50 to *)" },
};

export function Playground({ project }) {
  const [kind, setKind] = useState(remembered("kind", "where"));
  const [texts, setTexts] = useState(remembered("expressions", {}));
  const [more, setMore] = useState(remembered("parameters", ""));
  const [found, setFound] = useState(null);
  const [error, setError] = useState(null);
  const [answer, setAnswer] = useState(null);
  const running = useRef(null);
  const { operation, example } = KINDS[kind] ?? KINDS.where;
  const text = texts[kind] ?? example;

  const question = (execute) => {
    const query = new URLSearchParams(more.replace(/^\?/, ""));
    if (text) query.append(kind, text);
    return { operationId: operation, query: query.toString(), execute };
  };
  useEffect(() => {
    remember("kind", kind);
    remember("expressions", texts);
    remember("parameters", more);
    setAnswer(null);
    const timer = setTimeout(async () => {
      running.current?.abort();
      const stop = (running.current = new AbortController());
      try {
        setFound(await projects.explain(project, question(false), stop.signal));
        setError(null);
      } catch (refused) {
        if (stop.signal.aborted) return;
        setError(refused);
        setFound(null);
      }
    }, 150);
    return () => clearTimeout(timer);
  }, [project, kind, texts, more]);

  const run = async () => {
    try {
      setAnswer((await projects.explain(project, question(true))).answer);
      setError(null);
    } catch (refused) {
      setError(refused);
    }
  };
  const runOnKey = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
  };
  const fault = error?.errors.find((each) => each.parameter === kind && each.line);
  return html`<div class="columns">
      <section aria-label="Expression">
        <div class="kinds" role="group" aria-label="Parameter">${Object.entries(KINDS).map(([name, { title }]) => html`
          <button type="button" aria-pressed=${String(name === kind)} onClick=${() => setKind(name)}>${title}</button>`)}</div>
        <label for="expression" class="hidden">Expression</label>
        <textarea id="expression" rows="4" spellcheck=${false} value=${text} aria-invalid=${String(Boolean(error))} aria-describedby="verdict"
          onInput=${(event) => setTexts({ ...texts, [kind]: event.target.value })} onKeyDown=${runOnKey}></textarea>
        <div id="verdict" aria-live="polite">${error ? (fault ? html`<${Caret} text=${text} line=${fault.line} column=${fault.column} reason=${reasonOf(fault)} />` : html`<${Fault} error=${error} />`)
          : found ? html`<p class="good">It is understood.</p>` : html`<p class="soft">…</p>`}</div>
        <label for="more">Other parameters</label>
        <input id="more" class="code" value=${more} spellcheck=${false} placeholder="var.word=dog&sort=version desc&limit=5" onInput=${(event) => setMore(event.target.value)} />
        <div class="row middle"><button type="button" class="primary" onClick=${run} disabled=${Boolean(error)}>Run it</button>
          <span class="soft">or Ctrl+Enter</span></div>
        ${answer && html`<${Answer} answer=${answer} />`}
      </section>
      <section aria-label="Explanation">${found && html`
        <h3>Conditions</h3>
        ${found.conditions.length ? html`<ul class="conditions">${found.conditions.map(({ condition, index }) => html`<li>
          <code>${said(condition)}</code><span class=${index ? "good" : "some"}>${index ? `index ${index}` : "no index: it reads the whole project"}</span></li>`)}</ul>`
          : html`<p class="soft">None: it finds all.</p>`}
        ${found.tree && html`<details open><summary>Tree</summary><div class="tree"><${Tree} node=${found.tree} /></div></details>`}`}
      </section>
    </div>`;
}

/** The reason of a fault without what the caret says. */
const reasonOf = ({ message }) => `${message.replace(/^Malformed parameter: [^:]+: /, "").split(/ ?\(line \d+, column \d+\)/)[0].replace(/^Syntax error while parsing '[\s\S]*?'\. (?=Invalid|Unexpected)/, "")}.`;

function Answer({ answer }) {
  const results = answer.results ?? [];
  return html`<div class="answer" role="status"><h3>${answer.total ?? results.length} found</h3>
    ${answer.facets && html`<pre tabindex="0" aria-label="Facets">${JSON.stringify(answer.facets, null, 2)}</pre>`}
    <ul class="cards">${results.map((each) => html`<li><details class="card"><summary>${each.key ?? each.id} <span class="soft">version ${each.version}</span></summary>
      <pre tabindex="0" aria-label="Resource as JSON">${JSON.stringify(each, null, 2)}</pre></details></li>`)}</ul></div>`;
}

/** A condition on one line. */
function said(node) {
  if (node.contains) return `contains ${node.contains.join(" or ")}`;
  if (node.text) return `text.${node.language}: ${node.text}`;
  const not = node.negated ? "not " : "";
  if (node.hasElement) return `${not}${node.field} has (${said(node.hasElement)})`;
  if (node.and || node.or) return (node.and ?? node.or).map(said).join(node.and ? " and " : " or ");
  return `${not}${node.field} ${node.operator} ${node.values.map((value) => JSON.stringify(value)).join(", ")}`;
}

function Tree({ node }) {
  const parts = node.and ?? node.or;
  if (parts) return html`<div><span class="joint">${node.and ? "and" : "or"}</span><ul>${parts.map((each) => html`<li><${Tree} node=${each} /></li>`)}</ul></div>`;
  if (node.hasElement) return html`<div><code>${node.negated ? "not " : ""}${node.field} has an element</code><ul><li><${Tree} node=${node.hasElement} /></li></ul></div>`;
  return html`<code>${said(node)}</code>`;
}

