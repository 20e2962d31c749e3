// What differs between a request and the one that it repeats.

const same = (text) => ({ kind: "same", text });
const added = (text) => ({ kind: "added", text });
const removed = (text) => ({ kind: "removed", text });

const LINES_AT_MOST = 600;

/** Lines of a text, with those that it has added to an earlier one and those that it lacks (longest common subsequence). */
export function linesCompared(text, earlier) {
  const now = text.split("\n");
  if (text === earlier) return now.map(same);
  const then = earlier.split("\n");
  if (now.length > LINES_AT_MOST || then.length > LINES_AT_MOST) return [...then.map(removed), ...now.map(added)];
  const lengths = Array.from({ length: then.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = then.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      lengths[i][j] = then[i] === now[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < then.length || j < now.length) {
    if (i < then.length && j < now.length && then[i] === now[j]) {
      lines.push(same(now[j++]));
      i++;
    } else if (i < then.length && (j === now.length || lengths[i + 1][j] >= lengths[i][j + 1])) lines.push(removed(then[i++]));
    else lines.push(added(now[j++]));
  }
  return lines;
}

const ALWAYS_OTHER = new Set(["date", "x-correlation-id"]);

/** Header lines in the order in which they were sent; those that are always different are not marked. */
export function headersCompared(headers, earlier) {
  const line = ([name, value]) => `${name}: ${value}`;
  if (!earlier) return headers.map((header) => same(line(header)));
  const then = new Set(earlier.map(line));
  const now = new Set(headers.map(line));
  const isOther = ([name]) => !ALWAYS_OTHER.has(name.toLowerCase());
  return [
    ...headers.map((header) => (then.has(line(header)) || !isOther(header) ? same(line(header)) : added(line(header)))),
    ...earlier.filter((header) => !now.has(line(header)) && isOther(header)).map((header) => removed(line(header))),
  ];
}
