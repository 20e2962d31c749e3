// The search of the guide: lists the sections that have all words, those first whose headings have them, and of the others
// the short ones. What is looked for stands in the address. Where the window is narrow, the list of all pages is closed.

const AT_MOST = 30;
const AROUND = 120; // characters of a text that are shown before and after a word

const pages = document.querySelector(".pages details");
const form = document.querySelector(".search");
const field = form.querySelector("input");
const count = form.querySelector("output");
const results = document.querySelector(".found");
const list = results.querySelector("ol");
const shown = document.querySelector("article");
const beside = document.querySelector(".beside");

if (matchMedia("(max-width: 760px)").matches) pages.open = false;

let index;
/** Each section as the address, the titles from the page down, and the text. Read at the first search. */
const sections = () => (index ??= fetch(new URL("search.json", import.meta.url)).then((answer) => answer.json()));

const isIn = (words, text) => words.every((word) => text.includes(word));

function rank([, titles, text], words) {
  const title = titles.at(-1).toLowerCase();
  const path = titles.join(" ").toLowerCase();
  if (isIn(words, title)) return titles.length === 1 ? 1 : 2;
  if (isIn(words, path)) return 3;
  return isIn(words, `${path} ${text.toLowerCase()}`) ? 4 : 0;
}

function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

/** The text around the first of the words in it, which is marked. */
function excerpt(text, words) {
  const at = words.map((word) => [text.toLowerCase().indexOf(word), word.length]).filter(([place]) => place >= 0);
  const [place, length] = at.sort(([one], [other]) => one - other)[0] ?? [0, 0];
  const begin = place > AROUND ? text.indexOf(" ", place - AROUND) + 1 : 0;
  const cut = text.lastIndexOf(" ", place + length + AROUND);
  const end = place + length + AROUND < text.length ? Math.max(cut, place + length) : text.length;
  return element(
    "p",
    (begin ? "…" : "") + text.slice(begin, place),
    ...(length ? [element("mark", text.slice(place, place + length))] : []),
    text.slice(place + length, end) + (end < text.length ? "…" : ""),
  );
}

function entry([location, titles, text], words) {
  const link = element("a", titles.join(" › "));
  link.href = new URL(location, import.meta.url);
  return element("li", link, excerpt(text, words));
}

async function search() {
  const asked = field.value;
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  const all = words.length ? await sections() : [];
  if (field.value !== asked) return; // another search began meanwhile
  const found = all.map((section) => [rank(section, words), section]).filter(([place]) => place);
  found.sort(([one, { 2: text }], [other, { 2: longer }]) => one - other || text.length - longer.length);
  list.replaceChildren(...found.slice(0, AT_MOST).map(([, section]) => entry(section, words)));
  results.hidden = words.length === 0;
  shown.hidden = words.length > 0;
  if (beside) beside.hidden = words.length > 0;
  const more = found.length > AT_MOST ? `, the first ${AT_MOST} are shown` : "";
  count.textContent = words.length ? (found.length === 1 ? "1 section" : `${found.length || "No"} sections${more}`) : "";
}

function remember() {
  const address = new URL(location);
  if (field.value.trim()) address.searchParams.set("q", field.value.trim());
  else address.searchParams.delete("q");
  history.replaceState(null, "", address);
}

function clear() {
  if (!field.value) return;
  field.value = "";
  remember();
  search();
}

form.hidden = location.protocol === "file:"; // a page from a disk may not read another file
field.value = new URLSearchParams(location.search).get("q") ?? "";
search();
field.addEventListener("input", () => {
  remember();
  search();
});
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", clear); // a link to a part of this page shows the page
