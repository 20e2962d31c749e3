// The journal of a project, asked for once a second while the tab is visible.

import { useEffect, useMemo, useRef, useState } from "./preact.js";
import { projects } from "./api.js";
import { useEvery } from "./parts.js";

const KEPT = 1000;
const PERIOD = 1000; // ms
const LOOKED_AT_AGAIN = 10; // entries in which a later request may have shown something

const NOTHING = { state: "loading", entries: [] };

/** Entries, newest first, with the state of the connection: loading, live, lost or gone. */
export function useJournal(project) {
  const [journal, setJournal] = useState(NOTHING);
  const [round, setRound] = useState(0);
  const known = useRef(NOTHING);
  const set = (state, entries) => {
    if (known.current.state !== state || known.current.entries !== entries) setJournal(known.current = { state, entries });
  };
  useEffect(() => set("loading", []), [project, round]);
  useEvery(PERIOD, async (signal) => {
    const { state, entries } = known.current;
    if (!project || state === "gone") return;
    try {
      const found = await update(project, entries, signal);
      if (!signal.aborted) set("live", found);
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 404) set("gone", []);
      else set("lost", entries);
    }
  }, [project, round]);
  const found = useMemo(() => journal.entries.filter((entry) => entry.findings.length).length, [journal.entries]);
  return { ...journal, found, reload: () => setRound((number) => number + 1) };
}

/** The entries as they are now: those that are new, under way or among the last are read again. */
async function update(project, entries, signal) {
  const [last] = entries;
  if (!last) return merged([], await projects.after(project, 0, signal));
  const open = entries.findLast((entry) => entry.underWay)?.number ?? Infinity;
  const fresh = await projects.after(project, Math.max(0, Math.min(last.number - LOOKED_AT_AGAIN, open - 1)), signal);
  if (fresh.some((entry) => entry.number === last.number && entry.startedAt === last.startedAt)) return merged(entries, fresh);
  return merged([], await projects.after(project, 0, signal)); // the journal was deleted, and its numbers began again
}

/** Entries, newest first. What has not changed stays the same object, so that it is not drawn again. */
function merged(before, fresh) {
  const known = new Map(before.map((entry) => [entry.number, entry]));
  const changed = fresh.filter((entry) => JSON.stringify(known.get(entry.number)) !== JSON.stringify(entry));
  if (!changed.length && before.length) return before;
  for (const entry of changed) known.set(entry.number, entry);
  return [...known.values()].sort((one, other) => other.number - one.number).slice(0, KEPT);
}
