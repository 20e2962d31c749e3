// Small parts that several views are made of.

import { html, useEffect, useRef, useState } from "./preact.js";
import { address, go } from "./place.js";

/** A link to another place of this page. */
export function Link({ to, children, ...more }) {
  const follow = (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
    event.preventDefault();
    go(to);
  };
  return html`<a href=${address(to)} onClick=${follow} ...${more}>${children}</a>`;
}

export function Empty({ title, children, level = "h3" }) {
  return html`<div class="empty"><${level}>${title}</${level}>${children}</div>`;
}

export const messageOf = (each) => each.detailedErrorMessage ?? each.message;

/** What was refused, brought into view. */
export function Fault({ error, id }) {
  const place = useRef();
  useEffect(() => place.current?.scrollIntoView({ block: "nearest" }), [error]);
  if (!error) return null;
  const all = error.errors?.length ? error.errors.map(messageOf) : [error.message];
  return html`<div class="fault" role="alert" id=${id} ref=${place}>${all.map((text) => html`<p>${text}</p>`)}</div>`;
}

/** The line of a fault with a caret below, and the reason; line and column are counted from 1. */
export function Caret({ text, line, column, reason, id }) {
  const place = useRef();
  useEffect(() => place.current?.scrollIntoView({ block: "nearest" }), [reason, line, column]);
  const shown = text.split("\n")[line - 1] ?? "";
  const before = shown.slice(0, column - 1);
  return html`<div class="fault" id=${id} ref=${place}><p>${reason}</p><pre aria-hidden="true">${before}<mark>${shown.slice(column - 1, column) || " "}</mark>${shown.slice(column)}
${before.replace(/[^\t]/g, " ")}^</pre><p class="soft">Line ${line}, column ${column}</p></div>`;
}

export function statusClass(status) {
  if (status === null || status === undefined) return "lost";
  return status >= 500 ? "bad" : status >= 400 ? "some" : "good";
}

export function Status({ status }) {
  return html`<span class="status ${statusClass(status)}">${status ?? "lost"}</span>`;
}

export function time(text) {
  return text.slice(11, 19);
}

export function milliseconds(number) {
  if (number === null) return "under way";
  return number >= 1000 ? `${(number / 1000).toFixed(2)} s` : `${number.toFixed(number < 10 ? 1 : 0)} ms`;
}

/** Copies a text that `read` gives when the button is pressed, so that a secret need not stand on the page. */
export function Copy({ read, label, name = "Copy", look = "quiet", onRefused }) {
  const [done, setDone] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(await read());
      setDone("Copied");
    } catch {
      setDone("Not copied");
      onRefused?.();
    }
    setTimeout(() => setDone(""), 2000);
  };
  return html`<button type="button" class=${look} onClick=${copy} aria-label=${done ? null : label ?? null}>
    <span aria-live="polite">${done || name}</span></button>`;
}

/** A text to select by hand, with a button that copies it. */
export function Field({ label, text, code = true }) {
  const id = `field-${label.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  return html`<div class="field"><label for=${id}>${label}</label>
    <div class="with-button"><input id=${id} class=${code ? "code" : ""} readonly value=${text}
      onFocus=${(event) => event.target.select()} spellcheck=${false} />
      <${Copy} read=${() => text} label="Copy ${label}" /></div></div>`;
}

/** Asks once more before something that cannot be undone. */
export function Confirmed({ label, question, onConfirm }) {
  const [asks, setAsks] = useState(false);
  const yes = useRef();
  useEffect(() => {
    if (asks) yes.current.focus();
  }, [asks]);
  if (!asks) return html`<button type="button" class="danger" onClick=${() => setAsks(true)}>${label}</button>`;
  const cancelOnEscape = (event) => event.key === "Escape" && setAsks(false);
  return html`<span class="confirm" onKeyDown=${cancelOnEscape}><span>${question}</span>
    <button type="button" class="danger" ref=${yes} onClick=${() => { setAsks(false); onConfirm(); }}>${label}</button>
    <button type="button" onClick=${() => setAsks(false)}>Cancel</button></span>`;
}

/** Runs something now and then while the view is shown and the tab is visible. */
export function useEvery(period, run, inputs) {
  useEffect(() => {
    const stop = new AbortController();
    let timer;
    const next = async () => {
      if (!document.hidden) await run(stop.signal).catch(() => {});
      if (!stop.signal.aborted) timer = setTimeout(next, period);
    };
    next();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, inputs);
}

export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
