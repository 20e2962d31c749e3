// The project itself: credentials, a curl line, clock, ids, reset and end.

import { html, useState } from "./preact.js";
import { curlLine, projects, root, tokenOf } from "./api.js";
import { Confirmed, Copy, Fault, Field, useEvery } from "./parts.js";
import { remember, remembered } from "./place.js";
import { SNIPPETS, environment } from "./snippets.js";

export function Project({ project, credentials, journal, onGone }) {
  const [about, setAbout] = useState(null);
  const [error, setError] = useState(null);
  const [said, setSaid] = useState("");
  const load = async (signal) => setAbout(await projects.get(project, signal));
  useEvery(5000, load, [project]);
  const run = (action, done) => async (event) => {
    event?.preventDefault?.();
    try {
      const values = event?.target instanceof HTMLFormElement ? new FormData(event.target) : null;
      await action(values);
      setError(null);
      setSaid(done);
      await load();
    } catch (refused) {
      setSaid("");
      setError(refused);
    }
  };
  if (!about) return html`<p class="soft pad">Loading …</p>`;
  return html`<${Fault} error=${error} /><p class="said good" role="status">${said}</p>
    <div class="columns">
      <div>
        <${Credentials} project=${project} credentials=${credentials} onRefused=${setError} />
        <section class="card"><h3>${about.resources} resources, ${about.requests} requests</h3>
          <p class="soft">Made ${moment(about.createdAt)}, removed ${moment(about.expiresAt)}, UTC.</p>
          <form onSubmit=${run((form) => projects.reset(project, form.getAll("keep")).then(journal.reload), "The project is what it was at its beginning.")}>
            <fieldset><legend>Reset: as it was when it was made</legend>
              <label class="check"><input type="checkbox" name="keep" value="rules" checked /> keep the rules</label>
              <label class="check"><input type="checkbox" name="keep" value="requests" /> keep the requests</label></fieldset>
            <button>Reset</button></form>
          <${Confirmed} label="Remove the project" question="Everything in it goes." onConfirm=${run(() => projects.remove(project).then(onGone), "")} />
        </section>
      </div>
      <div>
        <${Clock} clock=${about.clock} set=${(order, done) => run(() => projects.clock(project, order), done)} />
        <section class="card"><h3>Ids</h3>
          <p class="soft">${"seed" in about.ids ? `New resources get the ids of seed ${about.ids.seed}.` : "New resources get random ids."}</p>
          <form class="row" onSubmit=${run((form) => projects.ids(project, form.get("seed") === "" ? {} : { seed: Number(form.get("seed")) }), "Set.")}>
            <label>Seed <input name="seed" type="number" step="1" placeholder="none: random" /></label><button>Set the seed</button></form></section>
      </div>
    </div>`;
}

const moment = (text) => text.slice(0, 16).replace("T", " ");

function Clock({ clock, set }) {
  const at = (form) => ({ now: new Date(`${form.get("now")}Z`).toISOString(), runs: clock.runs });
  const [now, setNow] = useState("");
  const ahead = clock.offsetSeconds ?? 0;
  return html`<section class="card"><h3>Clock</h3>
    <p><strong class="clock">${clock.now.slice(0, 19).replace("T", " ")}</strong> <span class="soft">${clock.runs ? (ahead ? `runs, ${Math.round(Math.abs(ahead))} s ${ahead > 0 ? "ahead" : "behind"}` : "real time") : "stands still"}</span></p>
    <p class="soft">It dates what is written, and decides whether a token has expired.</p>
    <div class="row wrap">
      <button type="button" onClick=${set({ offsetSeconds: ahead + 3600 }, "An hour later.")}>+1 hour</button>
      <button type="button" onClick=${set({ offsetSeconds: ahead + 172_860 }, "Two days later: tokens so far have expired.")}>+2 days</button>
      ${clock.runs ? html`<button type="button" onClick=${set({ runs: false }, "The clock stands still.")}>Stand still</button>` : ""}
      <button type="button" onClick=${set({}, "Real time.")}>Real time</button></div>
    <form class="row" onSubmit=${(event) => { event.preventDefault(); set(at(new FormData(event.target)), "Set.")(); }}>
      <label>Time (UTC) <input name="now" type="datetime-local" step="1" required value=${now} onInput=${(event) => setNow(event.target.value)} /></label><button>Set the clock</button></form></section>`;
}

/** Tokens and secrets stay in memory; one stands on the page only while it is shown. */
function Credentials({ project, credentials, onRefused }) {
  const [shown, setShown] = useState("");
  const made = credentials.get(project) ?? {};
  const token = () => tokenOf(credentials, project);
  const show = (name) => async () => {
    try {
      if (name === "token") await token();
      setShown(shown === name ? "" : name);
    } catch (refused) {
      onRefused(refused);
    }
  };
  const plain = (title, text) => html`<${Copy} read=${() => text} look=""
    name=${html`<span class="hidden">Copy </span><span class="soft">${title}</span> <code>${text}</code>`} />`;
  const secret = (name, title, read) => html`<span class="pair"><${Copy} read=${read} look="" name="Copy the ${title}" onRefused=${show(name)} />
    <button type="button" aria-expanded=${String(shown === name)} aria-label="${shown === name ? "Hide" : "Show"} the ${title}" onClick=${show(name)}>${shown === name ? "Hide" : "Show"}</button></span>`;
  const base = `${location.origin}${root}`;
  const value = { token: credentials.get(project)?.accessToken, secret: made.clientSecret }[shown];
  return html`<section class="card"><h3>Credentials</h3>
    <div class="credentials">
      ${plain("project key", project)}${plain("API URL", `${base}/${project}/resource`)}${plain("token URL", `${base}/oauth/token`)}
      ${made.clientId && html`${plain("client id", made.clientId)}${plain("scope", made.scope)}`}
      ${made.clientSecret && secret("secret", "client secret", () => made.clientSecret)}${secret("token", "access token", token)}
    </div>
    ${value && html`<${Field} label="${shown === "token" ? "Access token" : "Client secret"} to copy" text=${value} />`}
    ${!made.clientSecret && html`<p class="soft">The client's secret is shown only in the tab that has made the project, until it is reloaded.</p>`}
    <h4>Try it</h4>
    <code class="line">${curlLine(project, "$TOKEN")}</code>
    <${Copy} read=${async () => curlLine(project, await token())} name="Copy the curl line with a token" onRefused=${show("token")} />
    <${Snippets} base=${base} project=${project} made=${made} /></section>`;
}

/** A first request of a client, ready to paste. The environment has the secret when it is copied, and not on the page. */
function Snippets({ base, project, made }) {
  const [language, setLanguage] = useState(remembered("language", ".env"));
  const name = language in SNIPPETS ? language : ".env";
  const text = (secret) => (name === ".env" ? environment({ base, project, clientId: made.clientId, secret }) : SNIPPETS[name]);
  const choose = (each) => () => {
    setLanguage(each);
    remember("language", each);
  };
  return html`<h4 id="snippets">In your client</h4>
    <div class="kinds" role="group" aria-labelledby="snippets">${Object.keys(SNIPPETS).map((each) => html`
      <button type="button" aria-pressed=${String(each === name)} onClick=${choose(each)}>${each}</button>`)}</div>
    <pre tabindex="0" aria-label="Snippet: ${name}">${text(made.clientSecret && "••••••")}</pre>
    <${Copy} read=${() => text(made.clientSecret)} name="Copy ${name}" />`;
}
