// What the project holds, by a predicate. Its faults are the service's own, whose second line has the caret.

import { html, useEffect, useRef, useState } from "./preact.js";
import { projects } from "./api.js";
import { Empty, Fault, Link } from "./parts.js";

const PAGE = 20;

export function Resources({ project }) {
  const [where, setWhere] = useState("");
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
      if (where.trim()) query.append("where", where);
      try {
        setFound(await projects.resources(project, query, stop.signal));
        setError(null);
      } catch (refused) {
        if (!stop.signal.aborted) setError(refused);
      }
    }, 200);
    return () => clearTimeout(timer);
  }, [project, where, offset]);

  if (found && !found.total && !where) {
    return html`<${Empty} title="The project holds nothing">
      <p>Create a resource with your client, or make a project with made-up ones: <${Link} to=${{ project: "", view: "" }}>New project</${Link}>.</p></${Empty}>`;
  }
  const last = Math.min(offset + PAGE, found?.total ?? 0);
  return html`<form class="filters where" role="search" aria-label="Resources" onSubmit=${(event) => event.preventDefault()}>
      <label class="text"><span>where</span><textarea rows="2" spellcheck=${false} value=${where} aria-invalid=${String(Boolean(error))}
        aria-describedby="verdict" placeholder=${'arrayOfStringExample contains any ("dog", "cat") and version > 1'}
        onInput=${(event) => { setOffset(0); setWhere(event.target.value); }}></textarea></label>
      <output class="soft">${!found || error ? "…" : `${found.total} found`}</output>
    </form>
    <div id="verdict"><${Fault} error=${error} /></div>
    <section aria-label="Found resources">
      ${found?.results.length === 0 && html`<${Empty} title="Nothing matches"><p>The project holds others.</p></${Empty}>`}
      <ul class="cards">${(found?.results ?? []).map((each) => html`<li class="card">
        <button type="button" class="unfold" aria-expanded=${String(open === each.id)} onClick=${() => setOpen(open === each.id ? null : each.id)}>
          <strong>${each.key ?? each.id}</strong><span class="soft">version ${each.version}</span>
          <span class="soft words">${(each.objectTypeProperty.arrayOfStringExample ?? []).slice(0, 6).join(", ")}</span></button>
        ${open === each.id && html`<pre tabindex="0" aria-label="Resource as JSON">${JSON.stringify(each, null, 2)}</pre>`}</li>`)}</ul>
      ${found?.total > PAGE && html`<nav class="pager" aria-label="Pages">
        <button type="button" disabled=${offset === 0} onClick=${() => setOffset(Math.max(0, offset - PAGE))}>Back</button>
        <span class="soft">${offset + 1} to ${last}</span>
        <button type="button" disabled=${last >= found.total || offset + PAGE > 10000} onClick=${() => setOffset(offset + PAGE)}>Next</button></nav>`}
    </section>`;
}
