// The journal of a project, kept up to date by its stream of events. After a loss it goes on behind the last entry.

import { useEffect, useMemo, useState } from "./preact.js";
import { events, projects } from "./api.js";

const KEPT = 1000;
const PAUSES = [250, 500, 1000, 2000, 4000]; // ms between two tries to connect

const NOTHING = { state: "loading", entries: [] };

const pause = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    resolve();
  }, { once: true });
});

/** Entries, newest first, with the state of the connection: loading, live, lost or gone. */
export function useJournal(project) {
  const [journal, setJournal] = useState(NOTHING);
  const [round, setRound] = useState(0);
  useEffect(() => {
    setJournal(NOTHING);
    if (!project) return undefined;
    const stop = new AbortController();
    follow(project, setJournal, stop.signal);
    return () => stop.abort();
  }, [project, round]);
  const found = useMemo(() => journal.entries.filter((entry) => entry.findings.length).length, [journal.entries]);
  return { ...journal, found, reload: () => setRound((number) => number + 1) };
}

async function follow(project, setJournal, signal) {
  const set = (change) => signal.aborted || setJournal(change);
  let entries = null;
  for (let tries = 0; !signal.aborted;) {
    try {
      if (entries === null) {
        entries = await projects.entries(project, signal);
        set({ state: "live", entries });
      }
      for await (const { event, data } of events(project, entries, signal)) {
        tries = 0;
        if (event === "open") set({ state: "live", entries });
        else if (event === "request" && data.number <= (entries[0]?.number ?? 0)) {
          entries = null; // the journal was deleted, and its numbers began again
          break;
        } else if (event === "request") entries = [data, ...entries].slice(0, KEPT);
        else if (event !== "open") entries = entries.map((entry) => entry.number === data?.number ? data : entry);
        if (event !== "open") soon(() => set({ state: "live", entries }));
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 404) {
        set({ state: "gone", entries: [] });
        return;
      }
    }
    if (entries !== null) set((journal) => ({ ...journal, state: "lost" }));
    await pause(PAUSES[Math.min(tries++, PAUSES.length - 1)], signal);
  }
}

let waiting = null;

/** Draws at most once a frame, however many entries arrive. */
function soon(draw) {
  const first = waiting === null;
  waiting = draw;
  if (first) setTimeout(() => {
    const last = waiting;
    waiting = null;
    last();
  }, 16);
}
