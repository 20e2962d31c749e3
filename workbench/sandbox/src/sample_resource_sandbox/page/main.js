// The page at /sandbox: what a tester of a client sees and does. Each view is a module beside this one.

import { html, render, useEffect, useState } from "./preact.js";
import { needsToken, projects, useToken } from "./api.js";
import { useJournal } from "./journal.js";
import { Empty, Fault, Link } from "./parts.js";
import { go, remember, remembered, usePlace } from "./place.js";
import { Project } from "./project.js";
import { Report } from "./report.js";
import { Requests } from "./requests.js";
import { Resources } from "./resources.js";
import { Rules } from "./rules.js";

const VIEWS = { requests: "Requests", rules: "Rules", resources: "Resources", report: "Report", project: "Project" };

/** Asks for SANDBOX_TOKEN. */
function Door({ onOpen }) {
  const [error, setError] = useState(null);
  const enter = async (event) => {
    event.preventDefault();
    useToken(new FormData(event.target).get("token").trim());
    try {
      await projects.list();
      onOpen();
    } catch (refused) {
      useToken(null);
      setError(refused.status === 401 ? new Error("This is not the token of SANDBOX_TOKEN.") : refused);
    }
  };
  return html`<main class="door" id="main" tabindex="-1"><form onSubmit=${enter}>
    <h1>Sandbox</h1>
    <p>This service was started with <code>SANDBOX_TOKEN</code>. The token stays in the memory of this tab; a reload asks for it again.</p>
    <label for="token">Token</label>
    <input id="token" name="token" type="password" autocomplete="current-password" required autofocus />
    <${Fault} error=${error} />
    <button class="primary">Open</button>
  </form></main>`;
}

function App() {
  const [isOpen, setOpen] = useState(!needsToken);
  return isOpen ? html`<${Sandbox} />` : html`<${Door} onOpen=${() => setOpen(true)} />`;
}

/** Tokens and secrets of the projects that this tab has made, for as long as the tab is not reloaded. */
const credentials = new Map();

function Sandbox() {
  const place = usePlace();
  const [known, setKnown] = useState(null);
  const [error, setError] = useState(null);
  const key = place.project ?? "";
  const view = VIEWS[place.view] ? place.view : "requests";
  const journal = useJournal(key);

  const load = async () => {
    try {
      const list = await projects.list();
      setKnown(list);
      setError(null);
      return list;
    } catch (refused) {
      setError(refused);
      return null;
    }
  };
  useEffect(() => {
    load().then((list) => {
      const last = remembered("project", "");
      if (!key && list?.some((each) => each.projectKey === last)) go({ project: last }, { replace: true });
    });
  }, []);
  useEffect(() => {
    if (key) remember("project", key);
    document.title = key ? `${VIEWS[view]} · ${key} · Sandbox` : "Sandbox";
  }, [key, view]);
  const isGone = key !== "" && journal.state === "gone";
  useEffect(() => { // also when the count of findings has moved the tabs
    document.querySelector(".tabs [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
  }, [key, view, isGone, journal.found > 0]);

  const make = async (order) => {
    try {
      const made = await projects.make(order);
      credentials.set(made.projectKey, made);
      await load();
      go({ project: made.projectKey, view: "project", entry: "" });
    } catch (refused) {
      setError(refused);
    }
  };
  const gone = async () => {
    credentials.delete(key);
    remember("project", "");
    await load();
    go({ project: "", view: "", entry: "" });
  };

  const views = {
    requests: () => html`<${Requests} journal=${journal} project=${key} place=${place} credentials=${credentials} key=${key} />`,
    rules: () => html`<${Rules} project=${key} journal=${journal} key=${key} />`,
    resources: () => html`<${Resources} project=${key} key=${key} />`,
    report: () => html`<${Report} project=${key} journal=${journal} key=${key} />`,
    project: () => html`<${Project} project=${key} credentials=${credentials} journal=${journal} onGone=${gone} key=${key} />`,
  };
  return html`
    <section class="top" aria-label="Project in view">
      <h1><${Link} to=${{ project: "", view: "", entry: "" }}>Sandbox</${Link}></h1>
      <${Picker} known=${known} chosen=${key} />
      ${key && html`<${Link} to=${{ project: "", view: "", entry: "" }}>New project</${Link}>`}
      <span class="grow"></span>
      ${key && html`<${Live} state=${journal.state} />`}
    </section>
    ${key && !isGone && html`<nav class="tabs" aria-label="Views">${Object.entries(VIEWS).map(([name, title]) => html`
      <${Link} to=${{ view: name === "requests" ? "" : name }} aria-current=${view === name ? "page" : null}>${title}${
        name === "requests" && journal.found ? html` <span class="count" title="with findings">${journal.found}</span>` : ""}</${Link}>`)}</nav>`}
    <main id="main" class="view-${isGone ? "gone" : key ? view : "start"}" tabindex="-1">
      ${key && !isGone && html`<h2 class="hidden">${VIEWS[view]}</h2>`}
      <${Fault} error=${error} />
      ${!key ? html`<${Start} known=${known} onMake=${make} />` : isGone ? html`<${Gone} project=${key} />` : views[view]()}
    </main>`;
}

function Gone({ project }) {
  return html`<${Empty} title="There is no project ${project}" level="h2">
    <p>It was removed, or its time was over.</p>
    <p><${Link} to=${{ project: "", view: "", entry: "" }}>All projects, and a new one</${Link}></p></${Empty}>`;
}

function Picker({ known, chosen }) {
  const keys = (known ?? []).map((each) => each.projectKey);
  if (chosen && !keys.includes(chosen)) keys.unshift(chosen);
  if (!keys.length) return null;
  return html`<label class="picker"><span class="hidden">Project</span>
    <select value=${chosen} onChange=${(event) => go({ project: event.target.value, entry: "" })}>
      <option value="" disabled>Pick a project</option>
      ${keys.map((key) => html`<option value=${key}>${key}</option>`)}
    </select></label>`;
}

const LIVE = { loading: "Loading", live: "Live", lost: "Reconnecting", gone: "Gone" };

function Live({ state }) {
  return html`<span class="live is-${state}" role="status">${LIVE[state]}</span>`;
}

function Start({ known, onMake }) {
  const [resources, setResources] = useState(100);
  const submit = (event) => {
    event.preventDefault();
    const key = new FormData(event.target).get("key").trim();
    onMake({ resources: Number(resources), ...(key ? { projectKey: key } : {}) });
  };
  return html`<section class="start">
    <h2>What does your client do when answers fail?</h2>
    <p>Make a throwaway project, point your client at it, and watch what it sends. Then order faults: a 503, a lost answer, an expired token.</p>
    <form class="card" onSubmit=${submit}>
      <div class="row">
        <label>Key <input name="key" placeholder="made for you" pattern="[A-Za-z0-9_\\-]{1,64}" title="1 to 64 letters, digits, underscores and hyphens" spellcheck=${false} /></label>
        <label>Resources <input type="number" min="0" max="10000" value=${resources} onInput=${(event) => setResources(event.target.value)} /></label>
        <button class="primary">Make a project</button>
      </div>
      <p class="soft">It is removed after an hour, with everything in it.</p>
    </form>
    ${known?.length > 0 && html`<h3>Projects</h3><ul class="projects">${known.map((each) => html`<li>
      <${Link} to=${{ project: each.projectKey, view: "", entry: "" }}>${each.projectKey}</${Link}>
      <span class="soft">${each.resources} resources, ${each.requests} requests, until ${each.expiresAt.slice(11, 16)} UTC</span></li>`)}</ul>`}
  </section>`;
}

render(html`<${App} />`, document.getElementById("page"));
