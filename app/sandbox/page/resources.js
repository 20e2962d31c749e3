// The project's resources, searched and filtered with facets. The tester reads them, so the journal does not show it.

import { html, useEffect, useRef, useState } from "./preact.js";
import { projects } from "./api.js";
import { Empty, Fault, Link } from "./parts.js";

const FACETS = { version: "Version", arrayOfStringExample: "arrayOfStringExample", arrayOfIntExample: "arrayOfIntExample", someProperty: "someProperty" };
const LANGUAGES = ["en", "de", "fr", "es", "it", "nl"];
const PAGE = 20;
const TERMS = 8;

const literal = (path, term) => (path === "version" || path === "arrayOfIntExample" ? term : JSON.stringify(term));

export function Resources({ project }) {
  const [text, setText] = useState("");
  const [language, setLanguage] = useState("en");
  const [fuzzy, setFuzzy] = useState(false);
  const [staged, setStaged] = useState(false);
  const [chosen, setChosen] = useState({});
  const [offset, setOffset] = useState(0);
  const [found, setFound] = useState(null);
  const [error, setError] = useState(null);
  const [open, setOpen] = useState(null);
  const running = useRef(null);

  useEffect(() => {
    const timer = setTimeout(async () => {
      running.current?.abort();
      const stop = (running.current = new AbortController());
      const query = new URLSearchParams({ limit: PAGE, offset });
      if (text.trim()) query.append(`text.${language}`, text);
      if (text.trim() && fuzzy) query.append("fuzzy", "true");
      if (staged) query.append("staged", "true");
      for (const [path, terms] of Object.entries(chosen)) {
        if (terms.length) query.append("filter", `${path}:${terms.map((term) => literal(path, term)).join(",")}`);
      }
      for (const path of Object.keys(FACETS)) query.append("facet", path);
      try {
        const { answer } = await projects.explain(project, { operationId: "searchResources", query: query.toString(), execute: true }, stop.signal);
        setFound(answer);
        setError(null);
      } catch (refused) {
        if (!stop.signal.aborted) setError(refused);
      }
    }, 200);
    return () => clearTimeout(timer);
  }, [project, text, language, fuzzy, staged, chosen, offset]);

  const narrow = (change) => {
    setOffset(0);
    change();
  };
  const toggle = (path, term) => narrow(() => setChosen((before) => {
    const terms = before[path] ?? [];
    return { ...before, [path]: terms.includes(term) ? terms.filter((each) => each !== term) : [...terms, term] };
  }));
  const isNarrowed = Boolean(text.trim()) || Object.values(chosen).some((terms) => terms.length);
  if (found && !found.total && !isNarrowed && !staged) {
    return html`<${Empty} title="The project holds nothing">
      <p>Create a resource with your client, or make a project with made-up ones: <${Link} to=${{ project: "", view: "" }}>New project</${Link}>.</p></${Empty}>`;
  }
  const last = Math.min(offset + PAGE, found?.total ?? 0);
  return html`<form class="filters" role="search" aria-label="Resources" onSubmit=${(event) => event.preventDefault()}>
      <label class="text"><span>Words</span><input type="search" value=${text} onInput=${(event) => narrow(() => setText(event.target.value))} placeholder="dog, or yelow with fuzzy" /></label>
      <label><span>Language</span><select value=${language} onChange=${(event) => narrow(() => setLanguage(event.target.value))}>${LANGUAGES.map((each) => html`<option value=${each}>${each}</option>`)}</select></label>
      <label class="check"><input type="checkbox" checked=${fuzzy} onChange=${(event) => narrow(() => setFuzzy(event.target.checked))} /> fuzzy</label>
      <label class="check"><input type="checkbox" checked=${staged} onChange=${(event) => narrow(() => setStaged(event.target.checked))} /> staged</label>
      <output class="soft">${found ? `${found.totalCapped ? "more than " : ""}${found.total} found` : "…"}</output>
      ${isNarrowed && html`<button type="button" class="quiet" onClick=${() => narrow(() => { setText(""); setChosen({}); })}>Clear</button>`}
    </form>
    <${Fault} error=${error} />
    <div class="with-facets">
      <section class="facets" aria-label="Facets">${Object.entries(FACETS).map(([path, title]) => html`<${Facet} title=${title} path=${path}
        facet=${found?.facets?.[path]} chosen=${chosen[path] ?? []} onToggle=${(term) => toggle(path, term)} />`)}</section>
      <section aria-label="Found resources">
        ${found?.results.length === 0 && html`<${Empty} title="Nothing matches"><p>Take a filter away, or try fuzzy.</p></${Empty}>`}
        <ul class="cards">${(found?.results ?? []).map((each) => html`<li class="card">
          <button type="button" class="unfold" aria-expanded=${String(open === each.id)} onClick=${() => setOpen(open === each.id ? null : each.id)}>
            <strong>${each.key ?? each.id}</strong><span class="soft">version ${each.version}${each.hasStagedChanges ? ", staged changes" : ""}</span>
            <span class="soft words">${(each.arrayOfStringExample ?? []).slice(0, 6).join(", ")}</span></button>
          ${open === each.id && html`<pre tabindex="0" aria-label="Resource as JSON">${JSON.stringify(each, null, 2)}</pre>`}</li>`)}</ul>
        ${found?.total > PAGE && html`<nav class="pager" aria-label="Pages">
          <button type="button" disabled=${offset === 0} onClick=${() => setOffset(Math.max(0, offset - PAGE))}>Back</button>
          <span class="soft">${offset + 1} to ${last}</span>
          <button type="button" disabled=${last >= found.total || offset + PAGE > 10000} onClick=${() => setOffset(offset + PAGE)}>Next</button></nav>`}
      </section>
    </div>`;
}

function Facet({ title, path, facet, chosen, onToggle }) {
  const [isWhole, setWhole] = useState(false);
  const terms = facet?.terms ?? [];
  const gone = chosen.filter((term) => !terms.some((each) => String(each.term) === term)).map((term) => ({ term, count: 0 }));
  const all = [...gone, ...terms];
  if (!all.length) return null;
  return html`<fieldset><legend>${title}</legend>${all.slice(0, isWhole ? undefined : TERMS).map(({ term, count }) => html`<label class="check">
    <input type="checkbox" checked=${chosen.includes(String(term))} onChange=${() => onToggle(String(term))} name=${path} />
    <span class="term">${String(term)}</span><span class="soft n">${count}</span></label>`)}
    ${all.length > TERMS && html`<button type="button" class="quiet" aria-expanded=${String(isWhole)} onClick=${() => setWhole(!isWhole)}>${isWhole ? "Fewer" : `All ${all.length}`}</button>`}</fieldset>`;
}
