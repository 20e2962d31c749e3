// Where the reader is stands in the address, so that a reload, a bookmark and the back button work. No token ever does.

import { useEffect, useState } from "./preact.js";

const changed = new EventTarget();

export function read() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/** The address with some members changed; an empty one is left out. */
export function address(changes) {
  const members = Object.entries({ ...read(), ...changes }).filter(([, value]) => value);
  const query = new URLSearchParams(members).toString();
  return query ? `${location.pathname}?${query}` : location.pathname;
}

export function go(changes, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", address(changes));
  changed.dispatchEvent(new Event("change"));
}

export function usePlace() {
  const [place, setPlace] = useState(read());
  useEffect(() => {
    const update = () => setPlace(read());
    changed.addEventListener("change", update);
    addEventListener("popstate", update);
    return () => {
      changed.removeEventListener("change", update);
      removeEventListener("popstate", update);
    };
  }, []);
  return place;
}

/** What is remembered between visits: drafts and the last project, never a token or a secret. */
export function remembered(name, nothing) {
  try {
    return JSON.parse(localStorage.getItem(`sample-resource sandbox: ${name}`)) ?? nothing;
  } catch {
    return nothing;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(`sample-resource sandbox: ${name}`, JSON.stringify(value));
  } catch {
    // Storage is full or switched off: then it is forgotten.
  }
}
